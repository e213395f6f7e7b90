"""What programs that run as processes of their own have in common: limits, exit codes, refusals.

Such a program (see `formats/programs.py`) imports nothing else of this package: that would take longer than
reading most files.
"""

from __future__ import annotations

import errno
import json
import resource
import sys
from contextlib import suppress

MISUSED, REFUSED, OUT_OF_MEMORY, TOO_MUCH_TEXT = 2, 3, 4, 6
"""Exit codes. The first two come with a message, see `refuse`."""
_SIGNS_OF_LITTLE_MEMORY = ("launch worker thread", "not enough memory")
"""What Arrow and its codecs say if the limit of memory stops them."""


def limit(kind: int, amount: int) -> None:
    """Let this process use `amount` of a resource, such as `RLIMIT_CPU`, or less if the system says so."""
    _, most = resource.getrlimit(kind)
    allowed = amount if most == resource.RLIM_INFINITY else min(amount, most)
    with suppress(ValueError, OSError):  # macOS cannot limit memory
        resource.setrlimit(kind, (allowed, most))


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error comes from the limit of memory."""
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return any(sign in str(error) for sign in _SIGNS_OF_LITTLE_MEMORY)


def refuse(message: str, line: int | None = None, code: int = REFUSED) -> int:
    """Say why an input is not read, on the last line of standard error as JSON, and return the exit code."""
    sys.stderr.write("\n" + json.dumps([message, line]))
    return code
