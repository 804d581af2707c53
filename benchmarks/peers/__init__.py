"""Workloads, libraries and measures of `bench_peers.py`."""
