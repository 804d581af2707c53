"""Prints a table of losses: `PYTHONPATH=tests/support python -m accuracy 0 200`."""

from __future__ import annotations

import argparse

from .report import Tally

if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("start", type=int)
    reader.add_argument("stop", type=int)
    reader.add_argument("--dtypes", nargs="+", default=["float32", "float64"])
    reader.add_argument("--show", type=int, default=20, help="how many failures to print in full")
    reader.add_argument("--shrink", action="store_true", help="make each failing program smaller")
    given = reader.parse_args()
    tally = Tally()
    for seed in range(given.start, given.stop):
        for dtype in given.dtypes:
            tally.run(seed, dtype)
    print(tally.text(given.show, given.shrink))
