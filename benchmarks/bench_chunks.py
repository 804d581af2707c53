"""A batch in chunks on a cluster of two processes, against one process that takes chunk by chunk.

The gradient of a mean loss over 10⁷ rows of 50 numbers in single precision, 2 GB, which no process
holds. Printed are the ratio of the times, the most memory of each process, and how far the results
are apart. Run it with `python benchmarks/bench_chunks.py`; it needs the extra `dask`.
"""

from __future__ import annotations

import os
import threading
import time
from importlib import import_module
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import symgraph as sg

ROWS, CHUNK, COLUMNS = 10_000_000, 100_000, 50


def loss(x: Any, y: Any, w: Any) -> Any:
    """The mean squared error of a tanh."""
    return np.mean((np.tanh(x @ w) - y) ** 2)


def resident() -> int:
    """The bytes of memory that this process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def watch() -> None:
    """Note the most memory of this process from now on."""
    module: Any = import_module("symgraph.backends.dask")
    module.most = 0

    def look() -> None:
        while True:
            module.most = max(module.most, resident())
            time.sleep(0.01)

    threading.Thread(target=look, daemon=True).start()


def most() -> int:
    """What `watch` has noted, in MB."""
    return round(import_module("symgraph.backends.dask").most / 1e6)


def main() -> None:
    """Run both and print the figures."""
    single = {name: sg.spec(shape, "float32") for name, shape in SHAPES.items()}
    graph = sg.trace(loss, **single).gradient("w").simplify()
    rng = da.random.default_rng(0)
    x = rng.standard_normal(size=(ROWS, COLUMNS), chunks=(CHUNK, COLUMNS), dtype="float32")
    y = rng.standard_normal(size=(ROWS,), chunks=(CHUNK,), dtype="float32")
    w = (np.linspace(-1, 1, COLUMNS) / 5).astype("float32")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.run(watch)
        watch()
        start = time.perf_counter()
        value, slope = graph.lower("dask", batch="n")(x, y, w)
        together = time.perf_counter() - start
        peaks = [*client.run(most).values(), most()]
    start = time.perf_counter()
    values, slopes = [], []
    step = graph.lower()
    with dask.config.set(scheduler="synchronous"):
        for place in range(ROWS // CHUNK):
            found = step(*dask.compute(x.blocks[place, 0], y.blocks[place]), w)
            values.append(found[0])
            slopes.append(found[1])
    alone = time.perf_counter() - start
    expected = np.mean(slopes, axis=0, dtype=np.float64)
    apart = np.abs(slope - expected).max() / np.abs(expected).max()
    print(f"time, one process ÷ cluster of two: {alone / together:.2f}")
    print(f"most memory of the workers and the client: {peaks} MB of {x.nbytes / 1e6:.0f} MB")
    print(f"loss {value} and {np.mean(values)}; slopes apart by {apart:.1e} of the largest")


SHAPES = {"x": "n, 50", "y": "n", "w": "50"}

if __name__ == "__main__":
    main()
