"""The command `largeea`: selects the command's module, runs it, and reports errors with an exit code."""

from __future__ import annotations

import io
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module

import typer

from largeea.cli.screen import printable, screen
from largeea.cli.several_values import command_class
from largeea.cli.signals import Stopped, stopping
from largeea.cli.startup import quick_start
from largeea.errors import LargeEAError, ResourceError, UsageError

_NO_THREAD = "can't start new thread"
"""What Python says if a limit of the operating system on memory or processes is reached."""
_INTERRUPTED = 130
_FOR_ALL = ("--quiet", "-q", "--debug")
"""Options that every command accepts."""
COMMANDS = (
    *("inspect", "align", "explain", "report", "review", "evaluate", "resume", "update", "status", "verify"),
    *("dedupe", "merge", "schema", "export", "reconcile", "plan"),
    *("demo", "data", "bench", "synth", "build-dbp1m", "partition", "experiment"),
)
"""Each is a module of this package with a function `command` or, if it has subcommands, a typer `app`.

`SEVERAL_VALUES` in a module names the options that take several values.
"""


def make_app(arguments: list[str]) -> typer.Typer:
    """Return the typer app with the requested command only, so that the others need not be imported.

    The help lists all commands. A misspelt command gets a suggestion, for which their names are enough.
    """
    app = typer.Typer(
        name="largeea",
        help="Find the entities of two knowledge graphs that are the same thing.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
    )
    app.callback()(for_all_commands)
    asked = next((argument for argument in arguments if argument not in _FOR_ALL), "--help")
    if asked in COMMANDS or asked in ("-h", "--help"):
        for name in [asked] if asked in COMMANDS else COMMANDS:
            add_command(app, name)
    else:
        for name in COMMANDS:
            app.command(name)(_nothing)
    return app


def add_command(app: typer.Typer, name: str) -> None:
    """Import a command and add it to the app."""
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    if hasattr(module, "app"):
        app.add_typer(module.app, name=name)
    else:
        several_values = getattr(module, "SEVERAL_VALUES", ())
        app.command(name, epilog=module.EXAMPLES, cls=command_class(several_values))(module.command)


def _nothing() -> None:
    pass


def _version(wanted: bool) -> None:
    if wanted:
        from largeea.version import __version__

        screen.result(f"largeea {__version__}")
        raise typer.Exit


def for_all_commands(
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print only results and errors."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Find the entities of two knowledge graphs that are the same thing."""
    screen.quiet, screen.debug = quiet, debug


def main() -> None:
    """Run the command line and exit with its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal may lack a name's characters
    with stopping(screen.error):
        code = run(starting=quick_start)
    sys.exit(code)


def _anywhere(arguments: list[str] | None) -> list[str]:
    """Return the arguments with the common options first, where typer expects them."""
    given = sys.argv[1:] if arguments is None else arguments
    return sorted(given, key=lambda argument: argument not in _FOR_ALL)


def run(
    arguments: list[str] | None = None, starting: Callable[[], AbstractContextManager[None]] = nullcontext
) -> int:
    """Run the command line and return the exit code. The command is imported inside the context `starting`.

    0: success, 2: usage, 3: input, 4: resources, 5: internal error, 130 and 143: stopped by a signal.
    """
    given = _anywhere(arguments)
    try:
        with starting():
            app = make_app(given)
        with screen.listening():
            code = app(given, prog_name="largeea", standalone_mode=False)
        if code == _INTERRUPTED:
            raise KeyboardInterrupt  # typer has turned it into an exit code
        return code if isinstance(code, int) else 0
    except LargeEAError as error:
        return _fail(error, str(error), error.exit_code)
    except Stopped as stopped:
        return _fail(stopped, str(stopped), stopped.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return _fail(None, "interrupted; finished work is kept: run the same command again", _INTERRUPTED)
    except MemoryError as error:
        return _fail(error, "out of memory; try a smaller input or a machine with more memory", 4)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        return _fail(error, f"{error.strerror or error}{place}", ResourceError.exit_code)
    except Exception as error:
        if isinstance(error, typer.Exit):
            return error.exit_code
        if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
            return _fail(
                error,
                "no thread can be started; allow more memory or more processes",
                ResourceError.exit_code,
            )
        if type(error).__module__.startswith(("click", "typer")):
            return _fail_usage(error)
        if no_text := [argument for argument in given if not _is_text(argument)]:
            return _fail(
                error,
                f"the argument {no_text[0]!r} is not UTF-8; only the names of files may be other bytes",
                UsageError.exit_code,
            )
        return _fail_internally(error)


def _is_text(argument: str) -> bool:
    """Return whether an argument was given in UTF-8: Python keeps other bytes as half characters."""
    return not any("\ud800" <= character <= "\udfff" for character in argument)


def _fail_usage(error: Exception) -> int:
    message = getattr(error, "format_message", lambda: str(error))()
    if not message:
        return UsageError.exit_code  # the help was shown instead
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "largeea"
    return _fail(None, f"{message}\nTry '{path} --help'.", UsageError.exit_code)


def _fail_internally(error: Exception) -> int:
    return _fail(
        error, f"internal error: {type(error).__name__}: {error}\nThis is a bug; --debug shows where.", 5
    )


def _fail(error: BaseException | None, message: str, code: int) -> int:
    if screen.debug and error is not None:
        sys.stderr.write(printable("".join(traceback.format_exception(error))))
    screen.error("\n".join([message, *getattr(error, "__notes__", ())]))
    return code
