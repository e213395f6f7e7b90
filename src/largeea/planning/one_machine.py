"""The plan for one machine: the needs of all stages, and what has to be lowered to fit into its memory."""

from __future__ import annotations

from collections.abc import Iterator

from largeea.config import Config
from largeea.execution import Execution, current
from largeea.execution.devices import cuda_is_chosen
from largeea.execution.memory import resident_bytes
from largeea.execution.planner import Need, Plan, first_that_fits
from largeea.execution.stages import SHARE_FOR_CACHE
from largeea.planning.gpu import gpu_needs
from largeea.planning.sizes import Sizes
from largeea.planning.stages import propagation_memory, stage_rows
from largeea.structure.partition.size import automatic_k, smallest_k

LIBRARIES = 60_000_000
"""Bytes that compiled code and libraries add once stages run."""
READING = 1.6e-6
"""Seconds on one thread to read a triple or literal from N-Triples or a table."""
LABEL_WIDTHS = (64, 32, 16)


def make_plan(sizes: Sizes, config: Config, execution: Execution | None = None) -> tuple[Plan, Config]:
    """The plan for a task, and the configuration with what a lack of memory makes necessary.

    Labels become narrower and mini-batches smaller where they would not fit; the plan says so.
    """
    execution = execution or current()
    limit = execution.memory_bytes
    base = _base(sizes)
    adjusted, notes = config, []
    if config.uses("evidence"):
        cached = int(SHARE_FOR_CACHE * limit)
        widths = [width for width in LABEL_WIDTHS if width <= config.evidence.label_width]
        width = first_that_fits(
            widths,
            lambda width: base + cached + propagation_memory(sizes, config.evidence, width, limit),
            limit,
        )
        if width != config.evidence.label_width:
            notes.append(
                f"propagated labels have width {width} instead of {config.evidence.label_width} to stay "
                f"within {limit / 1e9:.1f} GB of memory, which costs some accuracy; allow more memory to "
                "avoid this"
            )
            narrower = config.evidence.model_copy(update={"label_width": width})
            adjusted = adjusted.model_copy(update={"evidence": narrower})
    if config.uses("structure") and not config.partition.k and config.partition.method != "none":
        how, entities = config.structure, sum(sizes.entities)
        room = limit - base if not cuda_is_chosen() else int(execution.gpu_memory or limit)
        least = smallest_k(entities, max(room, 1), config.partition.overlap, how.dimension, how.model)
        if least > automatic_k(entities):
            notes.append(
                f"there are {least} mini-batches instead of {automatic_k(entities)} to stay within the "
                "memory limit, which costs some accuracy; allow more memory to avoid this"
            )
            partition = config.partition.model_copy(update={"k": least})
            adjusted = adjusted.model_copy(update={"partition": partition})
    on_gpu = gpu_needs(sizes, adjusted)
    notes += [
        f"the CPU carries out the stage {need.stage!r}, which takes longer: the GPU would need about "
        f"{need.size / 1e9:.1f} GB for it, with room to spare; allow more GPU memory to avoid this"
        for need in on_gpu
        if not need.fits
    ]
    gpu_sizes = {need.stage: need.size for need in on_gpu if need.fits}
    needs = tuple(_needs(sizes, adjusted, limit, base, execution.thread_count, gpu_sizes))
    gpu = None if execution.gpu_memory is None else int(execution.gpu_memory)
    return Plan(needs, limit, gpu, tuple(notes)), adjusted


def _base(sizes: Sizes) -> int:
    """Memory of the process with its libraries and both graphs."""
    return max(resident_bytes() - sum(sizes.stored), 0) + LIBRARIES + sum(sizes.stored)


def _needs(
    sizes: Sizes, config: Config, limit: int, base: int, threads: int, on_gpu: dict[str, int]
) -> Iterator[Need]:
    """The needs of all stages in the order of the method; `on_gpu` are bytes on the GPU, by stage."""
    stored = 0  # besides the graphs, which are in the base
    reading = READING * (sum(sizes.triples) + sum(sizes.literals)) / threads
    both = base - LIBRARIES + 2 * sum(sizes.stored)
    yield Need("source", both, disk=sizes.stored[0], seconds=reading)
    yield Need("target", base - LIBRARIES, disk=sizes.stored[1])
    for stage, working, disk, seconds, calls in stage_rows(sizes, config, limit, threads):
        cached = min(stored, int(SHARE_FOR_CACHE * limit))
        if stage == "structure" and on_gpu:
            working = 2 * disk
        yield Need(stage, base + cached + working, on_gpu.get(stage, 0), disk, calls * seconds / threads)
        stored += disk
