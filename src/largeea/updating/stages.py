"""An update on one page: the method is that of `pipeline.py`, and these of its stages start from old results.

| stage | taken from the earlier run | computed |
|---|---|---|
| n-grams, strings, vectors | scores of pairs of unchanged names | renamed and new entities with all others |
| encoded names | vectors of names that either graph had | all other names |
| anchors | the pairs that the earlier matching is sure of | those of new entities, by names |
| names of nearby targets | most | sources without an anchor near a change, and renamed ones |
| candidates by surroundings | all | |
| surroundings | cosines | new pairs, and entities of which half changed |
| worth of evidence, calibration | all | |

All other stages are computed in full: edges, agreement of relations, neighbours, literals, matching and
decision. A stage whose code or settings differ from those of the earlier run is computed in full, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from largeea.evidence import (
    choose_anchors,
    find_candidates,
    measure_learnt,
    measure_names,
    measure_worth,
    surroundings_evidence,
)
from largeea.execution.stages import Call, Handle, Stages, Store
from largeea.graph import Arrays
from largeea.matching.confidence import calibrate
from largeea.matching.fusion import match
from largeea.names.channel import encode_names, name_rows, ngram_similarity, string_names, vector_similarity
from largeea.pipeline import Inputs
from largeea.round_evidence import names_nearby
from largeea.runs.artifacts import content_hash
from largeea.updating import evidence, names
from largeea.updating.earlier import EarlierRun
from largeea.updating.moved import moved_entities, moved_matrix, renamed_entities, something_changed

T = TypeVar("T")
ALL, NONE, BUT_THE_SEED = slice(None), slice(0), slice(-1)
WEIGHTS, MATCHING = slice(2, 3), slice(2, 5)
"""Settings of stages whose other arguments differ by kinds of evidence that turned out to tell nothing."""


class Start(NamedTuple):
    """How a stage starts from its earlier result: `function(earlier result, *needs, *arguments)`."""

    function: Callable[..., Any]
    needs: tuple[str, ...] = ()
    """What it has to know of the changes: names of handles."""
    arguments: slice = ALL
    """Those arguments of the stage that it takes."""
    settings: slice = ALL
    """Those arguments of the stage whose settings must be those of the earlier run."""
    of: str = ""
    """The earlier stage that it starts from, whatever its settings, if not the same one."""


def as_it_was(earlier: T) -> T:
    """The earlier result."""
    return earlier


STARTS: dict[Callable[..., Any], Start] = {
    ngram_similarity: Start(names.ngrams_of_renamed, ("moved", "renamed")),
    string_names: Start(names.strings_of_renamed, ("moved", "renamed")),
    vector_similarity: Start(names.vectors_of_renamed, ("moved", "renamed")),
    encode_names: Start(names.encode_new_names, ("earlier rows",)),
    names_nearby: Start(names.nearby_names_again, ("moved", "renamed")),
    choose_anchors: Start(
        evidence.anchors_that_hold, ("moved", "given", "first", "matching"), slice(1, None), of="fused"
    ),
    find_candidates: Start(moved_matrix, ("moved",), NONE, BUT_THE_SEED),
    surroundings_evidence: Start(evidence.surroundings_again, ("moved",), ALL, BUT_THE_SEED),
    measure_names: Start(as_it_was, (), NONE),
    measure_worth: Start(as_it_was, (), NONE, WEIGHTS),
    measure_learnt: Start(as_it_was, (), NONE, NONE),
    calibrate: Start(as_it_was, (), NONE, MATCHING),
}
UNCHANGED = Start(as_it_was, (), NONE, NONE)
"""How every stage starts if nothing changed."""


class UpdatingStages(Stages):
    """Stages of which some start from the results of an earlier run."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._changes: dict[str, Any] = {}
        """Handles, by what stages need to know of the changes; none if all is computed in full."""
        self._is_new = True
        self.instead_of: dict[str, dict[str, Any]] = {}
        """The stages that start from earlier results: function, code and arguments of what they stand for."""

    def start_from(self, earlier: EarlierRun, inputs: Inputs) -> None:
        """Let the stages from now on start from the results of an earlier run."""
        self.earlier = earlier
        graphs = earlier["source"], earlier["target"], inputs.source, inputs.target
        self.moved = self("moved", moved_entities, *graphs)
        self._changes |= {"moved": self.moved, "given": inputs.given}
        self.starts_from_earlier = True
        self._is_new = something_changed(self.moved.value) or _differ(earlier["given-pairs"], inputs.given)

    def compute_in_full(self) -> None:
        """Let no stage from now on start from earlier results."""
        self._changes.clear()
        self.starts_from_earlier = False

    def __call__(self, name: str, function: Callable[..., T], *arguments: Any) -> Handle[T]:
        """The handle of `function(*arguments)`, or of a stage that starts from its earlier result instead."""
        start = STARTS.get(function) if self._is_new else UNCHANGED
        if start is not None and self._changes and all(need in self._changes for need in start.needs):
            like = Call(function, arguments)
            before = self.earlier.get(start.of) if start.of else self.earlier.last(name, like, start.settings)
            if before is not None:
                self.instead_of[name] = {
                    part: getattr(like, part) for part in ("function", "code", "arguments")
                }
                needs = (self._changes[need] for need in start.needs)
                return super().__call__(name, start.function, before, *needs, *arguments[start.arguments])
        made = super().__call__(name, function, *arguments)
        if function is match and self._changes:
            channels, _, *matching = arguments
            self._changes.setdefault("first", channels)
            self._changes.setdefault("matching", matching)
        if function is name_rows and self._changes and "name-rows" in self.earlier.records:
            rows = self.earlier["name-rows"]
            renamed = super().__call__("renamed", renamed_entities, rows, made, self.moved)
            self._changes |= {"earlier rows": rows, "renamed": renamed}
        return made


def _differ(one: Handle[Arrays], other: Handle[Arrays]) -> bool:
    """Whether the arrays of two results differ."""
    return content_hash(one.value) != content_hash(other.value)
