"""The entry point of the `symgraph` command: it takes arguments and gives an exit code."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress

from .. import __version__, demo
from ..errors import SymgraphError
from . import derive, files, rules, serve

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments, by default those of the process.

    The user's errors are printed on stderr without a traceback.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["demo"]:
            return demo.main(arguments[1:])
        options = _parser().parse_args(_with_escaped_minus(arguments))
        return options.run(options)
    except SymgraphError as error:
        error.frame = None  # the user wrote no line of Python
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
    except SystemExit as stop:  # argparse has printed its error, or the help
        return stop.code if isinstance(stop.code, int) else 2
    return 2


_OPTION = re.compile(r"-[ho]|--[a-z][a-z-]*(=.*)?", re.DOTALL)


def _with_escaped_minus(arguments: list[str]) -> list[str]:
    """The arguments, with a space before an expression that begins with a minus sign.

    argparse would read it as an option.
    """
    return [
        f" {each}" if each.startswith("-") and not _OPTION.fullmatch(each) else each
        for each in arguments
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="symgraph",
        description="Gradients as graphs: derived, simplified to the closed form, checked.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"symgraph {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, module, purpose in (
        ("derive", derive, "derive, simplify and check the gradient of an expression"),
        ("rules", rules, "list, show or verify the rewrite rules"),
        ("serve", serve, "show gradients in a page of the browser, on this machine only"),
    ):
        module.add_arguments(commands.add_parser(name, help=purpose, allow_abbrev=False))
    for name, purpose in files.COMMANDS.items():
        command = commands.add_parser(name, help=purpose, allow_abbrev=False)
        files.add_arguments(command, name)
    # For the help only: `main` passes its arguments to `demo.main`.
    commands.add_parser("demo", help="train a network on real digits with a derived gradient")
    return parser
