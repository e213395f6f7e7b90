"""The network of `use_network` in torch, for CUDA."""

from __future__ import annotations

from typing import Any

import numpy as np

from largeea.graph import Float32, Int32, Int64
from largeea.names.encoders.base import halving_batches
from largeea.names.encoders.use_network import (
    BRANCH,
    LEFT_CONTEXT,
    MARGIN,
    OUTPUT,
    SHARDS,
    UseWeights,
    cuts,
)
from largeea.plugins import optional


class TorchUseNetwork:
    """Computes in fp32 on a torch device, about `tokens_at_once` at a time (about 20 KB each)."""

    def __init__(self, weights: UseWeights, device: Any, tokens_at_once: int) -> None:
        self._torch = optional("torch", "encoders", "the encoder use-multilingual on CUDA")
        self._device, self._tokens_at_once = device, tokens_at_once
        self._epsilon = float(weights.arrays["eps"])
        self._table = self._move(weights.table)
        self._weights = {
            name: self._move(np.asarray(array, np.float32)) for name, array in weights.arrays.items()
        }

    def encode(self, ids: Int32, offsets: Int64) -> Float32:
        """Unit vectors `[n, 512]`; name i has the pieces `ids[offsets[i]:offsets[i + 1]]`."""
        vectors = np.empty((len(offsets) - 1, OUTPUT), np.float32)
        with self._torch.inference_mode():
            for start, end in zip(*cuts(offsets, self._tokens_at_once), strict=True):

                def fill(first: int, last: int, start: int = start) -> None:
                    span = slice(start + first, start + last)
                    vectors[span] = self._encode(ids, offsets[span.start : span.stop + 1]).cpu().numpy()

                halving_batches(fill, end - start)
        return vectors

    def _encode(self, ids: Int32, offsets: Int64) -> Any:
        pieces = self._move(ids[offsets[0] : offsets[-1]].astype(np.int64))
        lengths = self._move(np.diff(offsets))
        return self._dense(self._features(pieces, lengths), lengths)

    def _move(self, array: Any) -> Any:
        return self._torch.from_numpy(array).to(self._device)

    def _features(self, pieces: Any, lengths: Any) -> Any:
        """Features `[tokens, 1280]` after the convolutions."""
        torch, w = self._torch, self._weights
        shard = pieces % SHARDS
        embedding = self._table[pieces] * w["scale"][shard, None] + w["lo"][shard, None]
        wide = self._layer_norm(embedding @ w["proj"] + w["proj_b_all"], "ln_g_all", "ln_b_all")
        name = torch.repeat_interleave(lengths)
        places = torch.arange(len(pieces), device=self._device) + MARGIN * (name + 1)
        line = wide.new_zeros(len(pieces) + MARGIN * (len(lengths) + 1), BRANCH)
        features = [embedding]
        for (n, left), branch in zip(LEFT_CONTEXT.items(), wide.split(BRANCH, dim=1), strict=True):
            window = places[:, None] - left + torch.arange(n, device=self._device)
            for layer in (1, 2):
                line[places] = branch
                convolved = line[window].flatten(1) @ w[f"w{layer}_{n}"] + w[f"b{layer}_{n}"]
                branch = convolved.relu() + branch
            features.append(branch)
        return self._layer_norm(torch.cat(features, dim=1), "ln_g", "ln_b")

    def _layer_norm(self, rows: Any, gain: str, bias: str) -> Any:
        weights = self._weights[gain], self._weights[bias]
        return self._torch.nn.functional.layer_norm(rows, rows.shape[1:], *weights, self._epsilon)

    def _dense(self, features: Any, lengths: Any) -> Any:
        """Unit vectors `[n, 512]` of names with `lengths[n]` tokens."""
        torch, w = self._torch, self._weights
        sums = torch.segment_reduce(features, "sum", lengths=lengths)
        mean = (sums @ w["cnn_W"] + lengths[:, None] * w["cnn_b"]) / lengths[:, None].sqrt()
        skip = (mean @ w["p1"] + (mean @ w["d0"]).relu() @ w["d1"]).relu()
        deep = (skip @ w["d2"]).relu()
        return torch.nn.functional.normalize((skip @ w["p3"] + deep @ w["d3"]).tanh())
