"""Prints the branches that simplification changes: `python -m conditions 0 200`."""

from __future__ import annotations

import argparse
from collections import Counter

from .grammar import condition
from .judge import branches

if __name__ == "__main__":
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("start", type=int)
    reader.add_argument("stop", type=int)
    reader.add_argument("--show", default="wrong", help="the verdict to print")
    given = reader.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(given.start, given.stop):
        for dtype in ("float32", "float64", "int8", "uint8", "bool"):
            for each in branches(condition(seed, dtype)):
                counts[each.verdict] += 1
                if each.verdict == given.show:
                    print(each)
    print(dict(counts))
