"""Workloads, packages and times of `bench_first_number.py`."""
