"""Programs as processes of their own: their input, their end, and the limits that they set."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import IO

import pytest

import largeea
from largeea.child import is_out_of_memory
from largeea.formats.programs import running

SPACE = 1 << 33
PROGRAM = f"""
import resource, sys
from largeea.child import limit
limit(resource.RLIMIT_AS, {SPACE})
soft, _ = resource.getrlimit(resource.RLIMIT_AS)
sys.stdout.write(f"{{soft}} {{sys.argv[1:]}} {{sys.stdin.read()}}")
sys.stderr.write("a remark")
sys.exit(7)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "program.py").write_text(PROGRAM)
    return str(tmp_path / "program.py")


def write_hello(pipe: IO[bytes]) -> None:
    pipe.write(b"hello")


def test_a_program_gets_arguments_and_input_and_limits_itself(program: str) -> None:
    with running(program, "one", "two", purpose="for this test", source=write_hello) as child:
        assert child.output.read().decode() == f"{SPACE} ['one', 'two'] hello"
        assert child.wait() == (7, "a remark")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory", "site-packages/dateutil"), True),
        (OSError("failed to launch worker thread"), True),
        (OSError(errno.EIO, "Input/output error"), False),
        (ValueError("3 rows instead of 4"), False),
    ],
)
def test_a_module_that_cannot_be_loaded_for_lack_of_memory_was_a_damaged_file(
    error: Exception, expected: bool
) -> None:
    assert is_out_of_memory(error) is expected


def test_what_its_input_raises_is_raised(program: str) -> None:
    def fail(pipe: IO[bytes]) -> None:
        raise ValueError("the disk is gone")

    with running(program, purpose="for this test", source=fail) as child:
        child.output.read()
        with pytest.raises(ValueError, match="the disk is gone"):
            child.wait()


def test_a_limit_is_never_above_that_of_the_system(program: str, tmp_path: Path) -> None:
    lower = textwrap.dedent(f"""
        import resource
        from largeea.formats.programs import running
        resource.setrlimit(resource.RLIMIT_AS, ({SPACE // 2}, {SPACE // 2}))
        with running({program!r}, purpose="for this test", source=lambda pipe: None) as child:
            print(child.output.read().decode())
    """)
    done = subprocess.run([sys.executable, "-c", lower], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == str(SPACE // 2)


def test_a_package_that_only_sys_path_leads_to_finds_its_own_modules(program: str) -> None:
    place = str(Path(largeea.__file__).parents[1])
    start = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {place!r})
        from largeea.formats.programs import running
        with running({program!r}, purpose="for this test", source=lambda pipe: None) as child:
            child.output.read()
            print(child.wait()[0])
    """)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", start], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "7"


def test_the_limits_of_this_process_stay(program: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    with running(program, purpose="for this test", source=write_hello) as child:
        child.output.read()
    assert resource.getrlimit(resource.RLIMIT_AS) == before
