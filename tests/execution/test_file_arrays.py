"""Arrays as views of files: described, restored in another process, refused where the file is another one."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from largeea.execution import file_arrays
from largeea.execution.file_arrays import FileViews, NotVisible, check_restored, restored
from largeea.graph import strings
from largeea.runs.artifacts import load_artifact, save_artifact
from largeea.similarity import Similarity

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is mapped where")
COUNT = 400_000


@pytest.fixture
def stored(tmp_path: Path) -> dict:
    numbers = np.arange(COUNT, dtype=np.int32)
    matrix = Similarity((COUNT, 10), np.arange(COUNT + 1), np.zeros(COUNT), np.ones(COUNT))
    value = {"numbers": numbers, "matrix": matrix, "names": strings(["name"] * COUNT)}
    save_artifact(value, tmp_path / "value")
    return load_artifact(tmp_path / "value")


def test_stored_arrays_are_described_and_restored(stored: dict) -> None:
    views = FileViews()
    names = np.frombuffer(stored["names"].buffers()[2], np.uint8)
    numbers = stored["numbers"]
    for array in (numbers, numbers[1000:].reshape(-1, 3), stored["matrix"].scores, names):
        described = views.describe(array)
        assert described is not None
        assert described.path.endswith("value")
        again = restored(described)
        np.testing.assert_array_equal(again, array)
        assert again.dtype == array.dtype
        assert not again.flags.writeable
    check_restored()


def test_other_arrays_are_not(stored: dict, tmp_path: Path) -> None:
    views = FileViews()
    assert views.describe(stored["numbers"][:1000]) is None, "small"
    assert views.describe(stored["numbers"][::2][:300_000]) is None, "not contiguous"
    assert views.describe(np.arange(COUNT)) is None, "in memory"
    assert views.describe(np.frombuffer(bytes(1 << 21), np.uint8)) is None, "in memory"
    (tmp_path / "value").unlink()
    assert FileViews().describe(stored["numbers"]) is None, "its file is gone"


def test_another_file_is_noticed(stored: dict, tmp_path: Path) -> None:
    described = FileViews().describe(stored["numbers"])
    assert described is not None
    save_artifact({"numbers": np.zeros(COUNT, np.int32)}, tmp_path / "value")
    file_arrays._mapped.cache_clear()
    assert restored(described).shape == (COUNT,)
    with pytest.raises(NotVisible, match="value"):
        check_restored()
    check_restored()
