"""Words that replace each other, learnt from entities with several names."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import strings
from largeea.names.lexicon import learn_lexicon
from largeea.names.rows import NameRows, Names
from largeea.names.words import Words, with_word_overlap
from largeea.similarity import Similarity


def rows(names: list[list[str]]) -> NameRows:
    """Rows of entities given with all their names, the main name first."""
    aliases = [(entity, text) for entity, all_names in enumerate(names) for text in all_names[1:]]
    text = strings([*(all_names[0] for all_names in names), *(text for _, text in aliases)])
    entity = np.array([*range(len(names)), *(entity for entity, _ in aliases)], np.int32)
    kind, weights = np.zeros(len(names), np.int8), np.ones(len(entity), np.float32)
    return NameRows(text, entity, kind, weights, text, np.empty(0, np.int32), strings())


def learnt(source: list[list[str]], target: list[list[str]]) -> dict[tuple[str, str], float]:
    names = Names(rows(source), rows(target))
    texts = [*names.source.latin.to_pylist(), *names.target.latin.to_pylist()]
    words = Words.cut(strings(texts))
    lexicon = learn_lexicon(names, words.pointer, words.ids, len(words.weights))
    vocabulary = list(dict.fromkeys(word for text in texts for word in text.split()))
    word = np.repeat(np.arange(len(vocabulary)), np.diff(lexicon.pointer))
    pairs = zip(word.tolist(), lexicon.others.tolist(), lexicon.scores.tolist(), strict=True)
    return {(vocabulary[one], vocabulary[other]): score for one, other, score in pairs}


def test_words_in_which_names_of_an_entity_differ() -> None:
    found = learnt([["kidney vein", "renal vein"], ["foot"]], [["lung"]])
    assert found == {("kidney", "renal"): 1, ("renal", "kidney"): 1}


@pytest.mark.parametrize(
    "names",
    [
        ["kidney", "renal"],
        ["kidney vein", "vein"],
        ["kidney vein", "renal artery"],
        ["kidney vein", "vein kidney"],
        ["left kidney vein", "left renal blood vein"],
    ],
)
def test_nothing_is_learnt_from_other_differences(names) -> None:
    assert learnt([names], [["lung"]]) == {}


def test_a_pair_counts_once_for_each_entity() -> None:
    source = [
        ["kidney vein", "renal vein", "vein kidney"],
        ["liver vein", "hepatic vein", "big vein"],
        ["liver lobe", "hepatic lobe"],
    ]
    found = learnt(source, [["lung"]])
    assert found[("kidney", "renal")] == 1
    assert found[("liver", "hepatic")] == pytest.approx(np.sqrt(2 / 3))
    assert found[("big", "liver")] == pytest.approx(np.sqrt(1 / 2))


def test_counterparts_with_an_unambiguous_name_are_one_entity() -> None:
    source, target = [["kidney vein", "vein k"], ["foot"]], [["renal vein", "vein k"], ["hand"]]
    assert ("kidney", "renal") in learnt(source, target)
    assert ("kidney", "renal") not in learnt([*source, ["vein k"]], target)
    assert ("kidney", "renal") not in learnt(source, [*target, ["vein k"]])


def test_replaced_words_match() -> None:
    names = Names(
        rows([["kidney vein", "renal vein"], ["kidney lobe"]]), rows([["renal lobe"], ["hepatic lobe"]])
    )
    given = Similarity.from_entries([1, 1], [0, 1], [0, 0], (3, 2))
    found = with_word_overlap(names, names.source.latin, names.target.latin, given)
    assert found.scores[0] > 1.5 * found.scores[1] > 0


def test_nothing_is_learnt_without_other_names() -> None:
    assert learnt([["kidney vein"], ["renal vein"]], [["kidney vein"], ["renal vein"]]) == {}
