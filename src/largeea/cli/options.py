"""Options that several commands share; `groups.py` has those that are given together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from largeea import config as configuration
from largeea.config import Config, Part
from largeea.errors import UsageError
from largeea.formats.scope import Match

Preset = Annotated[str, typer.Option(help="Preset of settings to start from.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="One setting, key=value; repeatable.")]
Seed = Annotated[int | None, typer.Option(help="Random seed.", min=0)]
Without = Annotated[
    list[str] | None, typer.Option(help="Switch a part off (" + ", ".join(get_args(Part)) + "); repeatable.")
]
Encoder = Annotated[
    str | None, typer.Option(help="Encoder of names, as for --set names.encoder.", metavar="NAME")
]
Lexicon = Annotated[
    Path | None,
    typer.Option(
        help="Pairs of terms that translate each other, tab-separated, one pair a line.", metavar="FILE"
    ),
]
Threshold = Annotated[
    float | None, typer.Option(help="Minimum confidence of an accepted pair.", min=0, max=1)
]
Prefer = Annotated[
    str | None,
    typer.Option(help="precision (threshold .9), balanced (highest expected F1) or recall (.2)."),
]
Cardinality = Annotated[
    str | None,
    typer.Option(
        help="Counterparts that entities may have: 1:1 (default), n:1 (several sources of the same target), "
        "1:n (several targets of the same source) or n:m."
    ),
]
PREFERENCES = {"precision": 0.9, "balanced": 0.0, "recall": 0.2}
"""What a user may prefer, as a threshold; 0 means that the highest expected F1 decides."""
Predicate = Annotated[
    str | None,
    typer.Option(
        help="Predicate of the links, an IRI or a CURIE such as skos:closeMatch; default: owl:sameAs, "
        "owl:equivalentClass, owl:equivalentProperty or skos:exactMatch, by what the entities are.",
        metavar="IRI",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
MaxErrors = Annotated[
    int | None,
    typer.Option(
        help="Malformed lines to leave out (listed in rejects.tsv) before failing; default: 1 % of what is "
        "read, but at least 100; 0: none.",
        min=0,
    ),
]
Format = Annotated[str | None, typer.Option(help="Format of graph files without a known extension.")]
ColumnMap = Annotated[
    str | None,
    typer.Option(
        "--columns",
        help="Table columns, guessed if not given: subject=id,name=label,links=parent,attributes=city+year",
    ),
]
SourceColumns = Annotated[str | None, typer.Option(help="Columns of the source table, as for --columns.")]
TargetColumns = Annotated[str | None, typer.Option(help="Columns of the target table, as for --columns.")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel workbook; default: the first.")]
Labels = Annotated[
    list[str] | None, typer.Option("--label", help="Predicate that gives names; repeatable, best first.")
]
Languages = Annotated[
    list[str] | None, typer.Option("--language", help="Preferred language of names; repeatable, best first.")
]
PairLanguage = Annotated[
    str | None, typer.Option(help="Language to use in a folder with several (DBP1M).", metavar="CODE")
]
MatchRoles = Annotated[
    str,
    typer.Option(
        "--match",
        help="What to match: auto (what the graphs are about), " + ", ".join(get_args(Match)[1:]) + ".",
    ),
]
Types = Annotated[
    list[str] | None,
    typer.Option(
        help="Match only entities of these types or of subclasses: IRIs or CURIEs, separated by commas.",
        metavar="TYPE[,TYPE]",
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        help="Match only what this SPARQL query selects (a file, or SELECT ?x WHERE {...}).", metavar="QUERY"
    ),
]
LeaveOut = Annotated[
    Path | None,
    typer.Option(help="Entities that are not matched at all, of either graph, one a line.", metavar="FILE"),
]
CompatibleTypes = Annotated[
    Path | None,
    typer.Option(
        help="Pairs of a source type and a target type, tab-separated; other known types are never paired.",
        metavar="FILE",
    ),
]
BlockBy = Annotated[
    list[str] | None,
    typer.Option(
        help="Pair only entities that share a value of this predicate or column (SOURCE=TARGET if they "
        "differ); repeatable.",
        metavar="PREDICATE",
    ),
]
SameIri = Annotated[
    str, typer.Option(help="Whether equal IRIs in two RDF graphs are the same entity: on or off.")
]
License = Annotated[
    str | None, typer.Option(help="Licence of the links, in SSSOM files; none by default.", metavar="IRI")
]
Date = Annotated[
    str | None,
    typer.Option(
        help="Day of the links in SSSOM files; default: when they were found.", metavar="YYYY-MM-DD"
    ),
]
WithDoubtful = Annotated[
    bool,
    typer.Option(
        "--with-doubtful", help="Write doubtful pairs into SSSOM files, too, with the predicate rdfs:seeAlso."
    ),
]

Memory = Annotated[
    str | None, typer.Option(help="Host memory limit, such as 12GB; default: set from the machine's memory.")
]
GpuMemory = Annotated[str | None, typer.Option(help="GPU memory limit, such as 20GB.")]
Threads = Annotated[int | None, typer.Option(help="Number of CPU threads; default: all cores.", min=1)]
Device = Annotated[str, typer.Option(help="Device to compute on: auto, cpu, cuda or cuda:N.")]
Engine = Annotated[str, typer.Option(help="What carries jobs out: local, or ray (a cluster).")]
Address = Annotated[
    str | None,
    typer.Option(
        help="Ray cluster: HOST:PORT or auto. Default: a running one, else Ray starts on this machine."
    ),
]


def make_config(
    preset: str,
    file: Path | None,
    settings: list[str] | None,
    seed: int | None,
    without: list[str] | None = None,
    threshold: float | None = None,
    prefer: str | None = None,
    encoder: str | None = None,
    lexicon: Path | None = None,
    cardinality: str | None = None,
) -> Config:
    """Return the configuration given by the options."""
    if prefer is not None and prefer not in PREFERENCES:
        raise UsageError(f"--prefer {prefer}: unknown; choose one of {', '.join(PREFERENCES)}")
    if prefer is not None and threshold is not None:
        raise UsageError("--prefer sets the threshold, so give either --prefer or --threshold")
    least = threshold if prefer is None else PREFERENCES[prefer]
    parts = get_args(Part)
    for part in without or ():
        if part not in parts:
            raise UsageError(f"--without {part}: unknown part; known: {', '.join(parts)}")
    decision = {"threshold": least, "cardinality": cardinality}
    names = {"encoder": encoder, "lexicon": lexicon and str(lexicon.absolute())}
    return configuration.load(
        preset,
        file,
        tuple(settings or ()),
        seed=seed,
        without=tuple(without) if without else None,
        decision={setting: value for setting, value in decision.items() if value is not None},
        names={setting: value for setting, value in names.items() if value is not None},
    )
