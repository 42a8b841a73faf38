"""What hub a team needs: the figures of docs/sizing.md. `python -m benchmarks.sizing`."""
