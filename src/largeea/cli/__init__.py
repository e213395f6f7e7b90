"""The command `largeea`. One file a command; this one puts them together and turns errors into words."""

from __future__ import annotations

import io
import sys
import traceback

import typer

from largeea.cli import (
    align,
    bench,
    build_dbp1m,
    data,
    demo,
    evaluate,
    experiment,
    explain,
    inspect,
    partition,
    resume,
    status,
    synth,
    verify,
)
from largeea.cli.screen import screen
from largeea.cli.signals import Stopped, stopping
from largeea.errors import LargeEAError, ResourceError, UsageError

_INTERRUPTED = 130

app = typer.Typer(
    name="largeea",
    help="Tells which entities of two knowledge graphs are the same thing.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("align", epilog=align.EXAMPLES)(align.command)
app.command("resume", epilog=resume.EXAMPLES)(resume.command)
app.command("status", epilog=status.EXAMPLES)(status.command)
app.command("verify", epilog=verify.EXAMPLES)(verify.command)
app.command("evaluate", epilog=evaluate.EXAMPLES)(evaluate.command)
app.command("explain", epilog=explain.EXAMPLES)(explain.command)
app.command("bench", epilog=bench.EXAMPLES)(bench.command)
app.command("demo", epilog=demo.EXAMPLES)(demo.command)
app.command("synth", epilog=synth.EXAMPLES)(synth.command)
app.command("build-dbp1m", epilog=build_dbp1m.EXAMPLES, cls=build_dbp1m.SeveralValues)(build_dbp1m.command)
app.add_typer(data.app, name="data")
app.command("partition", epilog=partition.EXAMPLES)(partition.command)
app.command("experiment", epilog=experiment.EXAMPLES, cls=experiment.SeveralFolders)(experiment.command)
app.command("inspect", epilog=inspect.EXAMPLES)(inspect.command)


def _version(wanted: bool) -> None:
    if wanted:
        from largeea import __version__

        screen.result(f"largeea {__version__}")
        raise typer.Exit


@app.callback()
def for_all_commands(
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Say nothing but results and errors."),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Tells which entities of two knowledge graphs are the same thing."""
    screen.quiet, screen.debug = quiet, debug


def main() -> None:
    """Run the command line and leave with its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name must not fail for the terminal's alphabet
    with stopping(screen.error):
        code = run()
    sys.exit(code)


def _anywhere(arguments: list[str] | None) -> list[str]:
    """The arguments with those for all commands in front, where typer looks for them."""
    given = sys.argv[1:] if arguments is None else arguments
    return sorted(given, key=lambda argument: argument not in ("--quiet", "-q", "--debug"))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line: 0 fine, 2 usage, 3 input, 4 resources, 5 internal, 130 and 143 stopped."""
    try:
        with screen.listening():
            code = app(_anywhere(arguments), prog_name="largeea", standalone_mode=False)
        if code == _INTERRUPTED:
            raise KeyboardInterrupt  # typer has made a number of it
        return code if isinstance(code, int) else 0
    except LargeEAError as error:
        return _fail(error, str(error), error.exit_code)
    except Stopped as stopped:
        return _fail(stopped, str(stopped), stopped.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        return _fail(None, "interrupted; what was finished is kept, run the same command again", _INTERRUPTED)
    except MemoryError as error:
        return _fail(error, "out of memory; try a smaller input or a machine with more memory", 4)
    except OSError as error:
        place = f" ({error.filename})" if error.filename else ""
        return _fail(error, f"{error.strerror or error}{place}", ResourceError.exit_code)
    except Exception as error:
        if isinstance(error, typer.Exit):
            return error.exit_code
        if type(error).__module__.startswith(("click", "typer")):
            return _fail_usage(error)
        return _fail_internally(error)


def _fail_usage(error: Exception) -> int:
    message = getattr(error, "format_message", lambda: str(error))()
    if not message:
        return UsageError.exit_code  # the help was shown instead
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "largeea"
    return _fail(None, f"{message}\nTry '{path} --help'.", UsageError.exit_code)


def _fail_internally(error: Exception) -> int:
    return _fail(
        error, f"internal error: {type(error).__name__}: {error}\nThis is a bug; run with --debug.", 5
    )


def _fail(error: BaseException | None, message: str, code: int) -> int:
    if screen.debug and error is not None:
        traceback.print_exception(error)
    screen.error("\n".join([message, *getattr(error, "__notes__", ())]))
    return code
