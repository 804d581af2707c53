"""Arguments in, exit code out."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress

from .. import __version__, demo
from ..errors import SymgraphError
from . import derive, rules

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments, by default those of the process.

    Errors of the user are told on stderr without a traceback.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if arguments[:1] == ["demo"]:
            return demo.main(arguments[1:])
        options = _parser().parse_args(_shielded(arguments))
        return options.run(options)
    except SymgraphError as error:
        error.frame = None  # no line of Python is the user's here
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
    except SystemExit as stop:  # argparse has told its error, or the help
        return stop.code if isinstance(stop.code, int) else 2
    return 2


_OPTION = re.compile(r"-h|--[a-z][a-z-]*(=.*)?", re.DOTALL)


def _shielded(arguments: list[str]) -> list[str]:
    """An expression may begin with a minus sign, which argparse would read as an option."""
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
    derive.add_parser(commands)
    rules.add_parser(commands)
    # For the help only: its arguments are its own.
    commands.add_parser("demo", help="train a network on real digits, gradients derived here")
    return parser
