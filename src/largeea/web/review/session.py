"""What the review app knows and does, without the web: pairs, their details, decisions."""

from __future__ import annotations

from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from largeea.errors import UsageError
from largeea.finished import FinishedRun
from largeea.formats.links.namespaces import by_frequency
from largeea.formats.links.predicates import EXACT_MATCH, PREDICATE_OF_ROLE, skos_concepts
from largeea.formats.prefixes import Curies
from largeea.graph import Bool, Int32, KnowledgeGraph, Role
from largeea.reviews import Decision, Kind, Pair, ReviewLog
from largeea.web.review.estimate import count_verdicts, estimate_precision
from largeea.web.review.literals import Comparison, aligned, names_and_literals
from largeea.web.review.neighbours import Neighbourhoods
from largeea.web.review.pairs import PairTable, Selection, name_of
from largeea.web.review.picture import Theme, draw

RIVALS = 9
"""Other candidates that are offered, one for each digit."""
MOST_ROWS = 100
"""Rows of the list in one answer."""


class Session:
    """One author who reviews one finished run. Methods may be called from several threads."""

    def __init__(self, folder: Path, author: str) -> None:
        self.author = author
        self._folder = folder
        self._run = FinishedRun(folder)
        self._table = PairTable(self._run)
        self._neighbourhoods = Neighbourhoods(self._run)
        declared = self._run.target.prefixes | self._run.source.prefixes
        self._log = ReviewLog(folder, self._namespaces, declared)
        self._lock = RLock()

    def _namespaces(self) -> list[str]:
        return by_frequency([self._run.source.entities, self._run.target.entities])

    # Reading

    def overview(self) -> dict[str, Any]:
        """Return what the page needs at its start: the run, its author, and what can be selected."""
        table = self._table
        return {
            "run": self._folder.resolve().name,
            "author": self.author,
            "pairs": len(table),
            "accepted": int(table.accepted.sum()),
            "roles": table.roles,
            "evidence": table.kinds,
            "sample": len(table.sample),
            "progress": self.progress(),
        }

    def progress(self) -> dict[str, Any]:
        """Return how much is reviewed, and the estimated precision of the accepted pairs."""
        with self._lock:
            reviews = self._log.refresh()
            return {
                "decisions": len(reviews.decisions),
                "verdicts": count_verdicts(reviews),
                "estimate": asdict(estimate_precision(self._table, reviews)),
                "can_undo": bool(reviews.last_action(self.author)),
            }

    def start(self, selection: Selection) -> dict[str, int]:
        """Return where to begin: the position of the first selected pair that the author has not decided."""
        queue = self._queue(selection)
        with self._lock:
            decided = [pair for pair in self._log.reviews.pairs if self._own(pair) != "none"]
        is_open = ~np.isin(queue, self._table.find(decided))
        return {"first": int(np.argmax(is_open)) if is_open.any() else 0, "total": len(queue)}

    def rows(self, selection: Selection, first: int, count: int) -> dict[str, Any]:
        """Return some of the selected pairs by number, with names and decisions, and how many there are."""
        queue = self._queue(selection)
        first = max(first, 0)
        shown = queue[first : first + min(max(count, 0), MOST_ROWS)].tolist()
        rows = [
            {"pair": pair, "names": self._table.names(pair), "decision": self._own(self._table.iris(pair))}
            for pair in shown
        ]
        return {"total": len(queue), "first": first, "rows": rows}

    def _queue(self, selection: Selection) -> Int32:
        self._refresh()
        return self._table.queue(selection, self._reviewed)

    def _refresh(self) -> None:
        """Read what other reviewers have added."""
        with self._lock:
            self._log.refresh()

    def _reviewed(self, decisions: int) -> list[Pair]:
        """The pairs that were reviewed after this many decisions."""
        with self._lock:
            return self._log.reviews.first(decisions).pairs

    def _said(self, pair: Pair) -> dict[str, Kind]:
        """What each author says about a pair."""
        with self._lock:
            return self._log.reviews.of(pair)

    def _own(self, pair: Pair) -> Kind:
        return self._said(pair).get(self.author, "none")

    def detail(self, pair: int, scores: bool) -> dict[str, Any]:
        """Return both entities of a pair side by side; confidence, evidence and status only on request."""
        self._refresh()
        source, target = self._ids(pair)
        sides = (self._run.source, source), (self._run.target, target)
        (ours, our_literals), (theirs, their_literals) = (names_and_literals(*side) for side in sides)
        compare = Comparison([name.text for name in (*ours, *theirs)])
        said = self._said(self._table.iris(pair))
        own = said.pop(self.author, "none")
        around = self._neighbourhoods.of(source, target)
        return {
            "pair": pair,
            "source": _entity(*sides[0]) | {"names": [asdict(name) for name in compare.marked(ours, theirs)]},
            "target": _entity(*sides[1]) | {"names": [asdict(name) for name in compare.marked(theirs, ours)]},
            "fields": [asdict(field) for field in aligned(our_literals, their_literals)],
            "neighbours": asdict(around),
            "rivals": self._rivals(source, target, scores),
            "decision": own,
            "others": said if scores else {},
            "scores": self._scores(pair) if scores else None,
        }

    def _scores(self, pair: int) -> dict[str, Any]:
        table = self._table
        return {
            "confidence": float(table.confidence[pair]),
            "status": "accepted" if table.accepted[pair] else "doubtful",
            "evidence": {kind: float(column[pair]) for kind, column in table.evidence.items()},
        }

    def _rivals(self, source: int, target: int, scores: bool) -> list[dict[str, Any]]:
        """Return the other candidates of the source entity, best first."""
        ids, values = self._run.fused.row(source)
        found = [(int(one), float(score)) for one, score in zip(ids, values, strict=True) if one != target]
        return [self._rival(source, rival, score if scores else None) for rival, score in found[:RIVALS]]

    def _rival(self, source: int, rival: int, score: float | None) -> dict[str, Any]:
        facts = _entity(self._run.target, rival)
        return facts | {
            "target": rival,
            "paired_with": self._table.partner_of_target(rival),
            "score": score,
            "decision": self._own((self._run.source.entities[source].as_py(), facts["iri"])),
        }

    def picture(self, pair: int, width: int, theme: Theme) -> str:
        """Return the neighbours of a pair as an SVG document."""
        around = self._neighbourhoods.of(*self._ids(pair))
        return draw(self._table.names(pair), around, width, theme)

    # Deciding

    def decide(self, pair: int, kind: Kind, instead: int | None, iris: Pair) -> dict[str, Any]:
        """Store a decision about a pair; return its scores, which may be shown now, and the progress.

        With `instead`, the id of a target entity, this one is the same and that of the pair is different.
        `iris` are those that the author has seen.
        """
        source, target = self._ids(pair)
        if iris != self._table.iris(pair):
            raise UsageError("the run has changed since this page was loaded; load it again")
        if instead is None:
            decisions = [self._decision(source, target, kind)]
        else:
            if not 0 <= instead < self._run.target.size or instead == target or kind != "same":
                raise UsageError("there is no such candidate to choose instead")
            comment = f"chosen instead of {name_of(self._run.target, target)}"
            decisions = [
                self._decision(source, instead, "same", comment),
                self._decision(source, target, "different"),
            ]
        with self._lock:
            self._log.append(decisions)
        return {"scores": self._scores(pair), "progress": self.progress()}

    def undo(self) -> dict[str, Any]:
        """Undo the author's last action, and return the number of its pair, None if the run lacks it."""
        with self._lock:
            restored = self._log.undo(self.author)
        found = self._table.find([one.pair for one in restored])
        return {
            "undone": len(restored),
            "pair": int(found[0]) if len(found) else None,
            "names": [restored[-1].source_label, restored[-1].target_label] if restored else [],
            "progress": self.progress(),
        }

    def _ids(self, pair: int) -> tuple[int, int]:
        if not 0 <= pair < len(self._table):
            raise UsageError(f"there is no pair {pair}; there are {len(self._table):,}")
        source, target = self._table.pairs[pair].tolist()
        return source, target

    def _decision(self, source: int, target: int, kind: Kind, comment: str = "") -> Decision:
        graphs = self._run.source, self._run.target
        return Decision(
            graphs[0].entities[source].as_py(),
            graphs[1].entities[target].as_py(),
            kind,
            self.author,
            source_label=graphs[0].names[source].as_py() or "",
            target_label=graphs[1].names[target].as_py() or "",
            predicate=self._predicate(source, target),
            comment=comment,
        )

    def _predicate(self, source: int, target: int) -> str:
        """The predicate that links two entities, by what they are."""
        role = Role(self._run.source.roles[source])
        concepts = self._concepts[0][source] or self._concepts[1][target]
        if role != self._run.target.roles[target] or (role == Role.INDIVIDUAL and concepts):
            return EXACT_MATCH
        return PREDICATE_OF_ROLE.get(role, EXACT_MATCH)

    @cached_property
    def _concepts(self) -> tuple[Bool, Bool]:
        """Masks of the SKOS concepts of both graphs."""
        return skos_concepts(self._run.source), skos_concepts(self._run.target)


def _entity(graph: KnowledgeGraph, entity: int) -> dict[str, Any]:
    iri = graph.entities[entity].as_py()
    return {
        "iri": iri,
        "curie": Curies.of(graph).shorten(iri),
        "name": name_of(graph, entity),
        "role": Role(graph.roles[entity]).name.lower(),
    }
