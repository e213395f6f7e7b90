"""The figures of `evaluate`."""

from __future__ import annotations

import json
from pathlib import Path

from towns import WORDS


def test_evaluate(cli):
    cli("align", "a.nt", "b.ttl", "-o", "run")
    out, _ = cli("evaluate", "run", "--links", "links.tsv", "--json")
    figures = json.loads(out)
    assert (figures["links"], figures["seeds"]) == (16, 0)
    assert set(figures["protocols"]) == {"open", "paper"}
    for protocol in figures["protocols"].values():
        assert protocol == {"hits@1": 1.0, "hits@5": 1.0, "hits@10": 1.0, "mrr": 1.0}
    for judged in ("alignment", "linked_ends", "no_counterpart"):
        assert figures[judged].pop("ece") < 0.1
        assert figures[judged] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
        assert figures["reliability"][judged][-1].keys() == {"from", "to", "count", "confidence", "right"}
    out, _ = cli("evaluate", "run", "--links", "links.tsv")
    assert "all pairs: a pair that is not among the links is wrong" in out
    assert "Reliability" not in out
    assert "Reliability" in cli("evaluate", "run", "--links", "links.tsv", "--reliability")[0]
    assert "against 16 links" in out
    assert "open" in out
    assert "paper" in out


def test_evaluate_does_not_count_seeds(cli):
    Path("seeds.tsv").write_text("http://a/Berlin\thttp://b/Berlin\n")
    cli("align", "a.nt", "b.ttl", "-o", "run", "--seeds", "seeds.tsv")
    figures = json.loads(cli("evaluate", "run", "--links", "links.tsv", "--json")[0])
    assert (figures["links"], figures["seeds"]) == (16, 1)
    wrong = {word: WORDS[place - 1] for place, word in enumerate(WORDS)}
    Path("wrong.tsv").write_text("".join(f"http://a/{s}\thttp://b/{t}\n" for s, t in wrong.items()))
    figures = json.loads(cli("evaluate", "run", "--links", "wrong.tsv", "--json")[0])
    assert figures["protocols"]["open"]["hits@1"] == 0
    assert figures["alignment"].pop("ece") > 0.9
    assert figures["alignment"] == {"precision": 0, "recall": 0, "f1": 0}
