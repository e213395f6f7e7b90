"""Without the extra `web`, the tests of the reconciliation service cannot even be imported."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("starlette") else ["reconcile"]
