"""`bench` on a folder, and `demo`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from towns import WORDS

BENCH_KEYS = [
    *("dataset", "preset", "train", "seeds", "protocols", "alignment"),
    *("seconds", "peak_rss_mb", "peak_gpu_mb"),
]
RANKING = {"hits@1", "hits@5", "hits@10", "mrr"}
SHARES = {"precision", "recall", "f1"}


def assert_bench_figures(figures: dict) -> None:
    """The keys as they were promised; programs read them."""
    assert [key for key in figures if key in BENCH_KEYS] == BENCH_KEYS
    assert set(figures["protocols"]) == {"open", "paper"}
    assert all(set(protocol) == RANKING for protocol in figures["protocols"].values())
    assert set(figures["alignment"]) == SHARES | {"ece"}
    assert set(figures["seconds"]) >= {"total", "source", "target", "names", "fused"}
    assert all(seconds >= 0 for seconds in figures["seconds"].values())
    assert figures["peak_rss_mb"] > 1
    assert figures["peak_gpu_mb"] == 0


def bench(cli, *arguments: str) -> dict:
    return json.loads(cli("bench", "pair", "--json", *arguments)[0])


def test_bench(cli):
    figures = bench(cli, "--train", "0.25")
    assert_bench_figures(figures)
    assert (figures["dataset"], figures["preset"], figures["train"], figures["seeds"]) == (
        "pair",
        "default",
        0.25,
        4,
    )
    assert figures["protocols"]["open"]["hits@1"] == 1
    out, err = cli("bench", "pair", "--train", "0")
    assert "pair, preset default, 0 seeds" in out
    assert [line.split()[0] for line in err.splitlines()][:3] == ["read", "source", "target"]


def test_bench_with_an_official_fold(cli):
    figures = bench(cli, "--fold", "2")
    assert_bench_figures(figures)
    assert figures["seeds"] == 4


def test_bench_in_the_other_direction(cli):
    """`Zzyzx` on the source side finds nothing alike; turned round, the same holds of `Atlantis`."""
    with Path("pair/rel_triples_1").open("a") as file:
        file.write("".join(f"http://a/{word}_City\thttp://a/next\thttp://a/Berlin\n" for word in WORDS))
    forth, back = bench(cli, "--train", "0"), bench(cli, "--train", "0", "--reverse")
    assert forth["protocols"]["open"] == {"hits@1": 1, "hits@5": 1, "hits@10": 1, "mrr": 1}
    assert back["no_counterpart"] == forth["no_counterpart"]
    assert back["protocols"]["open"]["hits@5"] == 1


def test_bench_depends_on_its_seed_alone(cli):
    timeless = [
        {
            key: value
            for key, value in bench(cli, "--seed", seed).items()
            if key not in ("seconds", "memory_mb", "peak_rss_mb")
        }
        for seed in "334"
    ]
    assert timeless[0] == timeless[1]
    assert timeless[0]["seeds"] == timeless[2]["seeds"] == 3


def test_bench_without_a_part(cli):
    assert bench(cli, "--train", "0", "--without", "structure")["protocols"]["open"]["hits@1"] == 1


def test_demo(cli):
    out, _ = cli("demo", "-o", "demo", "--json", "--languages", "en", "fr")
    figures = json.loads(out)
    assert_bench_figures(figures)
    assert figures["dataset"] == "demo-en-fr"
    assert figures["protocols"]["open"]["hits@1"] >= 0.68
    assert {path.name for path in Path("demo/pair").iterdir()} >= {
        "rel_triples_1",
        "rel_triples_2",
        "ent_links",
    }
    out, _ = cli("demo", "-o", "demo")
    assert "Some of the links" in out
    assert "The two graphs and their true links: demo/pair" in out
    again = json.loads(cli("bench", "demo/pair", "--train", "0", "--json")[0])
    assert np.isclose(again["protocols"]["open"]["hits@1"], figures["protocols"]["open"]["hits@1"], atol=0.02)
