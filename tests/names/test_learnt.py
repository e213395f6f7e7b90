"""Names translated by what anchors teach: ciphers whose answer is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import largeea
from largeea.config import as_config
from largeea.datasets.demo import demo_pair
from largeea.experiments.bench import bench
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.names import learnt
from largeea.names.labels import latinised
from largeea.names.learnt import find_learnt, learn_translations, learnt_similarity
from largeea.names.rows import Columns
from largeea.names.units import name_units
from largeea.runs.folder import read_manifest
from largeea.similarity import Similarity

LETTERS = "abcdefghijklmnopqrstuvwxyz"
HAN = "".join(map(chr, range(0x4E00, 0x4E80)))
SIZE = 400


def rows_of(source: list[str | None], target: list[str | None]) -> Columns:
    sides = {"source": source, "target": target}
    columns: Columns = {}
    for side, names in sides.items():
        texts = strings(names)
        columns |= {f"{side}_texts": texts, f"{side}_latin": latinised(texts)}
        columns[f"{side}_kind"] = np.zeros(len(names), np.int8)
    return columns


def reversed_rows(rows: Columns) -> Columns:
    other = {"source": "target", "target": "source"}
    return {f"{other[key[:6]]}{key[6:]}": column for key, column in rows.items()}


def words(count: int, seed: int, letters: str = LETTERS) -> list[str]:
    random = np.random.default_rng(seed)
    return ["".join(random.choice(list(letters), random.integers(4, 9))) for _ in range(count)]


def names(vocabulary: list[str], seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(vocabulary, 3, replace=False)) for _ in range(SIZE)]


def same(pairs: int) -> Links:
    return Links(np.repeat(np.arange(pairs, dtype=np.int32)[:, None], 2, axis=1))


def everything(shape: tuple[int, int]) -> Similarity:
    return Similarity.from_entries(*np.indices(shape).reshape(2, -1), np.full(shape, 0.1).ravel(), shape)


def found_first(rows: Columns, anchors: Links) -> float:
    """Share of the entities without anchor whose counterpart, of the same number, is the first candidate."""
    units = name_units(rows)
    kinds = {side: rows[f"{side}_kind"] for side in ("source", "target")}
    found = find_learnt(units, learn_translations(units, anchors, 0), anchors, kinds, 5)
    free = np.setdiff1d(np.arange(found.shape[0]), anchors.source)
    return float((found.best()[0][free] == free).mean())


def scores_of(rows: Columns, anchors: Links) -> np.ndarray:
    units = name_units(rows)
    shape = len(rows["source_kind"]), len(rows["target_kind"])
    scored = learnt_similarity(units, learn_translations(units, anchors, 0), [everything(shape)], shape[1])
    return scored.to_dense()


def test_words_of_a_cipher_are_learnt() -> None:
    plain = words(200, 1)
    code = dict(zip(plain, words(200, 2, HAN), strict=True))
    source = names(plain, 3)
    target = [" ".join(code[word] for word in name.split()) for name in source]
    assert found_first(rows_of(source, target), same(SIZE // 2)) > 0.95
    assert found_first(rows_of(target, source), same(SIZE // 2)) > 0.95


def test_letters_of_another_alphabet_are_learnt() -> None:
    alphabet = str.maketrans(LETTERS, "".join(map(chr, np.random.default_rng(0).permutation(26) + 0x10D0)))
    source = words(SIZE, 4)
    target = [name.translate(alphabet) for name in source]
    assert found_first(rows_of(source, target), same(SIZE // 2)) > 0.9


def test_words_of_three_characters_are_learnt_where_nothing_divides_them() -> None:
    random = np.random.default_rng(1)
    plain = list({"".join(random.choice(list(HAN[:6]), 3)): None for _ in range(80)})
    code = dict(zip(plain, words(len(plain), 2), strict=True))
    chosen = [random.choice(plain, 3, replace=False) for _ in range(SIZE)]
    source = ["".join(some) for some in chosen]
    target = [" ".join(code[word] for word in some) for some in chosen]
    assert found_first(rows_of(source, target), same(SIZE // 2)) > 0.9


def test_characters_that_sound_alike_share_what_is_learnt() -> None:
    written = words(SIZE, 10, "剧龙车马书")
    variants = str.maketrans("剧龙车马书", "劇龍車馬書")
    target = [name.translate(str.maketrans("剧龙车马书", "aeiou")) for name in written]
    half = SIZE // 2
    source = [*written[:half], *(name.translate(variants) for name in written[half:])]
    others = [*written[:half], *("".join(chr(ord(one) + 1) for one in name) for name in written[half:])]
    assert found_first(rows_of(source, target), same(half)) > 5 * found_first(
        rows_of(others, target), same(half)
    )


def test_both_directions_count() -> None:
    rows = rows_of(words(SIZE, 11), words(SIZE, 12, HAN))
    units, anchors, shape = name_units(rows), same(SIZE), (SIZE, SIZE)
    taught, swapped = (
        learn_translations(units, anchors, 0),
        learn_translations(name_units(reversed_rows(rows)), anchors, 0),
    )
    ours = learnt_similarity(units, taught, [everything(shape)], SIZE).to_dense()
    theirs = learnt_similarity(name_units(reversed_rows(rows)), swapped, [everything(shape)], SIZE).to_dense()
    np.testing.assert_allclose(ours, theirs.T, atol=1e-4)


def test_without_anchors_names_stay_as_they_are() -> None:
    rows = rows_of(["red fox", "blue sky"], ["blue sky", "red fox", "grey wolf"])
    scores = scores_of(rows, Links.none())
    np.testing.assert_allclose(scores[[0, 1], [1, 0]], 1, atol=1e-5)
    assert scores[0, 2] < 0.5


def test_one_anchor_is_too_little_to_learn_from() -> None:
    rows = rows_of(["гора", "гора гора", "река"], ["mountain", "mountains", "river"])
    np.testing.assert_allclose(scores_of(rows, same(1)), scores_of(rows, Links.none()), atol=0.1)


def test_wrong_anchors_do_not_confirm_themselves() -> None:
    rows = rows_of(words(SIZE, 5), words(SIZE, 6, HAN))
    units, shape = name_units(rows), (SIZE, SIZE)
    taught = learn_translations(units, same(SIZE), 0)
    confirming = taught | {f"{side}_own": np.full(SIZE, -1, np.int32) for side in ("source", "target")}
    scores, confirmed = (
        learnt_similarity(units, known, [everything(shape)], SIZE).to_dense()
        for known in (taught, confirming)
    )
    lead, confirmed_lead = (np.diag(some).mean() - some.mean() for some in (scores, confirmed))
    assert confirmed_lead > 0.3
    assert lead < confirmed_lead / 5


def test_names_without_letters_are_similar_to_nothing() -> None:
    rows = rows_of(["...", None, "fox"], ["???", "fox", None])
    scores = scores_of(rows, same(2))
    assert scores[2, 1] > 0.9
    scores[2, 1] = 0
    assert not scores.any()


def test_anchors_are_left_out_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(words(SIZE, 7), words(SIZE, 8))
    units = name_units(rows)
    monkeypatch.setattr(learnt, "MOST_PRODUCTS", 10_000)
    taught = learn_translations(units, same(SIZE), 0)["source_own"]
    sizes, compared = (
        {
            side: np.add.reduceat(counted[units[f"{side}_indices"]], units[f"{side}_indptr"][:-1])
            for side in ("source", "target")
        }
        for counted in (np.ones(len(units["weights"]), int), (units["weights"] > 0).astype(int))
    )
    for ours, theirs in (("source", "target"), ("target", "source")):
        assert 0 < (sizes[ours] * compared[theirs])[taught >= 0].sum() <= 10_000


def test_a_run_learns_names_in_other_letters_from_its_anchors(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    letters = str.maketrans(LETTERS, "".join(map(chr, random.permutation(26) + 0x10D0)))
    source = names(words(SIZE // 6, 9), 5)
    triples = np.column_stack([random.integers(0, high, SIZE) for high in (SIZE, 4, SIZE)])
    sides = (
        KnowledgeGraph(
            strings(f"http://{side}/{number:03}" for number in range(SIZE)),
            strings(told),
            strings(f"http://{side}/r{number}" for number in range(4)),
            np.unique(triples, axis=0),
        )
        for side, told in (("a", source), ("b", [name.translate(letters) for name in source]))
    )
    ours, theirs = sides
    hits = []
    for weight in (0.0, 1.0):
        config = {"names": {"encoder": "ngram"}, "evidence": {"learnt_weight": weight}}
        answer = largeea.align(ours, theirs, seeds=same(120), config=config, folder=tmp_path / str(weight))
        found = answer.pairs[answer.pairs[:, 0] >= 120]
        hits.append((found[:, 0] == found[:, 1]).sum() / (SIZE - 120))
    assert hits[1] > 0.9
    assert hits[1] > hits[0] + 0.05
    timings = [read_manifest(tmp_path / weight)["timings"] for weight in ("0.0", "1.0")]
    assert ["trial-learnt" in stages for stages in timings] == [False, True]


@pytest.mark.filterwarnings("ignore::largeea.errors.LargeEAWarning")
@pytest.mark.parametrize("languages", [("ar", "en"), ("ko", "el"), ("zh", "ru")])
def test_real_names_are_learnt_from_the_anchors_of_a_run(languages: tuple[str, str]) -> None:
    """CLDR's names without seeds, encoder and dictionaries.

    For Chinese and Russian, the anchors of the first round are too few and too often wrong to teach anything.
    """
    before, after = (
        bench(
            demo_pair(languages),
            "demo",
            "default",
            as_config(
                {
                    "names": {"encoder": "ngram", "dictionaries": False},
                    "evidence": {"learnt_weight": weight},
                }
            ),
            train=0.0,
        )[0]["protocols"]["open"]["hits@1"]
        for weight in (0.0, 1.0)
    )
    assert after > before + 0.03
