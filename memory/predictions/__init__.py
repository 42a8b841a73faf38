"""Predictions: which snapshots are read again soon, and what is learned from those that came true."""
