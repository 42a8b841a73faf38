"""Leases: paths that an agent has reserved for a while."""
