"""The entry point of the `symgraph` command: it takes arguments and gives an exit code."""

from __future__ import annotations

import argparse
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from .. import __version__, demo
from ..errors import SymgraphError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments, by default those of the process.

    The user's errors are printed on stderr without a traceback.
    """
    if argv is not None:
        return _run(list(argv))
    code = _run(sys.argv[1:])
    gc.freeze()  # As the process ends it would look for garbage: a third of a second.
    return code


def _run(arguments: list[str]) -> int:
    try:
        if arguments[:1] == ["demo"]:
            return demo.main(arguments[1:])
        options = _parser(arguments[:1]).parse_args(_with_escaped_minus(arguments))
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


_COMMANDS = {
    "derive": "derive, simplify and check the gradient of an expression",
    "rules": "list, show or verify the rewrite rules",
    "serve": "show gradients in a page of the browser, on this machine only",
    "simplify": "simplify an expression or a saved graph",
    "export": "write a graph in the format that the name of a file tells",
    "explore": "write the interactive page of a graph",
    "check": "compare a gradient with differences of its function",
    "demo": "train a network on real digits with a derived gradient",
}
_OF_FILES = ("simplify", "export", "explore", "check")


def _parser(asked: list[str]) -> argparse.ArgumentParser:
    """The parser of all commands; only the one that is asked for is loaded.

    `demo` stands there for the help alone: `main` passes its arguments to `demo.main`.
    """
    parser = argparse.ArgumentParser(
        prog="symgraph",
        description="Gradients as graphs: derived, simplified to the closed form, checked.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"symgraph {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, purpose in _COMMANDS.items():
        told = f"{purpose.capitalize()}."
        command = commands.add_parser(name, help=purpose, description=told, allow_abbrev=False)
        if asked == [name]:
            module = "files" if name in _OF_FILES else name
            import_module(f"{__package__}.{module}").add_arguments(command)
    return parser
