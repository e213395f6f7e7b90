"""Samples of the paper's figures, read off its tables once more."""

from __future__ import annotations

from largeea.experiments.paper import MEMORY, SETS, overall, overall_table, same_batch, same_batch_table


def test_overall_results() -> None:
    assert overall("largeea-r", "ids15k_en_de_v1", False) == {
        "paper Hits@1": 0.892,
        "paper Hits@5": 0.94,
        "paper MRR": 0.91,
        "paper (s)": 96.32,
    }
    assert overall("largeea-r", "dbp1m_en_de", True)["paper Hits@1"] == 0.562
    assert overall("largeea-g", "ids100k-en-fr", True)["paper Hits@1"] == 0.847
    assert set(overall("default", "ids15k_en_de_v1", False).values()) == {None}
    assert set(overall("largeea-r", "dbp15k_fr_en", False).values()) == {None}


def test_pairs_in_the_same_batch() -> None:
    test = {
        (method, name): same_batch(method, name, False)["paper: test pairs"]
        for method in ("metis-cps", "vps")
        for name in SETS
    }
    cps = [test["metis-cps", name] for name in SETS]
    vps = [test["vps", name] for name in SETS]
    assert cps == [0.62, 0.847, 0.574, 0.583, 0.303, 0.327]
    assert vps == [0.207, 0.207, 0.106, 0.105, 0.052, 0.065]
    assert same_batch("metis-cps", "dbp1m-en-fr", True)["paper: test pairs"] == 0.451
    assert same_batch("merged", "dbp1m-en-fr", True)["paper: test pairs"] is None


def test_tables_are_whole() -> None:
    for table, rows in ((overall_table(), 24), (same_batch_table(), 24), (MEMORY, 12)):
        assert len(table.rows) == rows
        assert {len(row) for row in table.rows} == {len(table.header)}
