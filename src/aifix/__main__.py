"""The `aifix` command. The pipe is recognised from the arguments by hand, and copies before anything else is imported."""

import os
import sys

TYPE_CHECKING = False  # see aifix/__init__.py
if TYPE_CHECKING:
    from typing import NoReturn

PIPE_FLAGS = {
    "-q",
    "--quiet",
    "--exit-zero",
    "--no-color",
    "--no-colour",
    "--color",
    "--colour",
    "-v",
    "--verbose",
    "--no-history",
    "--probe",
    "--no-probe",
    "--remember",
}
PIPE_OPTIONS = {"--format", "-f"}
FORMATS = ("text", "json", "sarif", "github")


def pipe_options(arguments: list[str]) -> dict[str, object] | None:
    """Read the pipe's few options; None when the arguments are a command's or not understood here."""
    options: dict[str, object] = {"format": "text", "quiet": False, "exit_zero": False, "colour": None, "verbose": False, "probe": True, "python": ""}
    options |= {"history": True, "remember": False, "kb": ""}
    waiting = iter(arguments)
    for argument in waiting:
        name, equals, value = argument.partition("=")
        if name in PIPE_OPTIONS:
            chosen = value if equals else next(waiting, "")
            if chosen not in FORMATS:
                return None
            options["format"] = chosen
        elif name in {"--python", "--kb"}:
            options[name[2:]] = value if equals else next(waiting, "")
        elif argument in PIPE_FLAGS:
            if argument in {"-q", "--quiet"}:
                options["quiet"] = True
            elif argument == "--exit-zero":
                options["exit_zero"] = True
            elif argument in {"-v", "--verbose"}:
                options["verbose"] = True
            elif argument in {"--probe", "--no-probe"}:
                options["probe"] = argument == "--probe"
            elif argument == "--no-history":
                options["history"] = False
            elif argument == "--remember":
                options["remember"] = True
            else:
                options["colour"] = not argument.startswith("--no-")
        else:
            return None
    return options


def _end(status: int) -> "NoReturn":
    """End at once: taking the interpreter down costs a fifth of its start-up, and everything is written already."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    os._exit(status)


def _help() -> bool:
    """Print the help as click writes it for 80 columns, without loading click; false where the terminal is narrower."""
    try:
        columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(1).columns
    except (OSError, ValueError):
        columns = 80
    if columns < 80:
        return False
    try:
        with open(os.path.join(os.path.dirname(__file__), "commands", "help.txt"), encoding="utf-8") as stream:  # noqa: PTH118, PTH120, PTH123
            sys.stdout.write(stream.read())
    except OSError:
        return False
    return True


def main() -> None:
    """Run aifix and exit with its status; whatever goes wrong is one line."""
    try:
        _main()
    except Exception as error:
        if os.environ.get("AIFIX_TRACEBACK"):
            raise
        _end(_failed(error))


def _main() -> None:
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        from aifix import __version__

        if sys.stdout is not None:
            sys.stdout.write(f"aifix {__version__}\n")
            sys.stdout.flush()
        return
    if arguments in (["--help"], ["-h"]) and (sys.stdout is None or _help()):
        if sys.stdout is not None:
            sys.stdout.flush()
        return
    options = pipe_options(arguments)
    if options is not None and sys.stdin is not None and not sys.stdin.isatty():
        from aifix.pipe import run

        _end(run(options))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # a code page that lacks a character gets a question mark
        except (AttributeError, OSError, ValueError):
            continue
    from aifix.commands.main import cli

    cli(prog_name="aifix")


def _failed(error: Exception) -> int:
    """Say in one line what went wrong; give the exit status."""
    import errno

    from aifix.commands.report import close_quietly, note
    from aifix.pipe import why_not

    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        note(f"{error.filename or 'the output'} cannot be written: {error.strerror}; nothing more was said")
    elif not isinstance(error, BrokenPipeError):
        note(why_not(error))
    close_quietly(1)
    return 1 if isinstance(error, BrokenPipeError) else 2


if __name__ == "__main__":
    main()
