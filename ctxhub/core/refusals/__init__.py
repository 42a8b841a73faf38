"""Refusals: what agents tried and were refused, counted in the background."""
