"""Updates: a run on new versions of two graphs that starts from the results of an earlier run."""

from largeea.updating.changes import count_changes, write_changes
from largeea.updating.update import begin_update, finish_update, updated_request

__all__ = ["begin_update", "count_changes", "finish_update", "updated_request", "write_changes"]
