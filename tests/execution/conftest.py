"""Clusters for the tests of the Ray engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes for the tests of a module. Those that kill nodes come last."""
    pytest.importorskip("ray", reason="the extra largeea[ray] is not installed")
    from ray_nodes import Cluster, plugin_folder

    with plugin_folder() as plugin, pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(plugin))
        started = Cluster(3, plugin)
        yield started
        started.close()
