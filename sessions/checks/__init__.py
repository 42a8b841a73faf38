"""Checks: what must hold for some files, and who else is at them."""
