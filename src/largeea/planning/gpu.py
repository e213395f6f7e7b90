"""What the stages of the method take on a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from largeea.config import Config, EvidenceConfig
from largeea.evidence.labels import HOPS
from largeea.execution.devices import cuda_is_chosen, free_gpu_bytes, torch_device
from largeea.execution.planner import GpuNeed
from largeea.names import sizes as names
from largeea.planning.sizes import Sizes
from largeea.planning.stages import edge_counts, training_memory


def gpu_needs(sizes: Sizes, config: Config) -> list[GpuNeed]:
    """What stages take on the chosen GPU; nothing where none is chosen."""
    if not cuda_is_chosen():
        return []
    free = free_gpu_bytes(torch_device())
    needs: list[GpuNeed] = []
    if config.uses("names") and config.uses("sens"):
        needs += names.gpu_stages(sizes.matched, sizes.characters, config.names, free)
    if config.uses("structure"):
        needs.append(GpuNeed("structure", training_memory(sizes, config)))
    if config.uses("evidence"):
        needs += _evidence_on_gpu(sizes, config.evidence, free)
    return needs


def _evidence_on_gpu(sizes: Sizes, how: EvidenceConfig, free: int) -> Iterator[GpuNeed]:
    """Surroundings and matching on a GPU with this many free bytes, in a round and in the trial."""
    from largeea.evidence.cuda import BYTES_PER_EDGE, BYTES_PER_SOURCE
    from largeea.matching.cuda import BYTES_PER_ENTRY

    entities, edges = sizes.entities, sum(edge_counts(sizes))
    known = 6 * max(entities) * (HOPS + 1) * how.label_width
    vectors = 2 * sum(entities) * (2 * HOPS + 1) * how.label_width
    sketched = int(1.3 * (known + vectors + BYTES_PER_EDGE * edges + BYTES_PER_SOURCE * entities[0]))
    matched = BYTES_PER_ENTRY * sizes.matched[0] * how.top_k
    yield GpuNeed("fused", matched, matched <= free)
    for stage in ("candidates", "surroundings", "trial-surroundings"):
        yield GpuNeed(stage, sketched, sketched <= free)
    for stage in ("matched", "calibration"):
        yield GpuNeed(stage, matched, matched <= free)
