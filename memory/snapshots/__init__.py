"""Snapshots: one moment of the work, with its reason and its causes."""
