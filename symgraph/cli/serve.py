"""`symgraph serve`: `symgraph derive` as a page in the browser, on this machine only."""

from __future__ import annotations

import argparse

from ..page import PageServer
from .answers import answer

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `symgraph serve`."""
    parser.description = (
        "Serves a page at 127.0.0.1: type an expression, its shapes and facts as symgraph derive "
        "takes them, and see the graphs, the closed form, its NumPy source, a numeric check and "
        "each step of the derivation. Nothing leaves this machine, and no other machine can ask. "
        "Expressions are read, never run. Stop with Ctrl+C."
    )
    parser.epilog = "Exit code: 0, or 2 if the port is taken."
    add = parser.add_argument
    add("--port", type=_port, default=0, metavar="N", help="the port; by default any free one")
    add("--seconds", type=_seconds, default=20.0, metavar="S", help="limit of an answer (20)")
    add("--open", action="store_true", help="open the page in the browser")
    parser.set_defaults(run=run)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) < 65536):
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError("a limit is a number of seconds up to 3600")
    return seconds


def run(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl+C."""
    with PageServer(answer, options.port, options.seconds) as server:
        print(f"symgraph serves {server.url}   (Ctrl+C stops it)", flush=True)
        if options.open:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0
