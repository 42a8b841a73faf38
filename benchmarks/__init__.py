"""Repeatable measurements of a hub, run by hand: `python -m benchmarks --help`."""
