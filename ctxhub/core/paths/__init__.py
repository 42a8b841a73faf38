"""Paths: the globs of files that decisions, constraints and memories bear on."""
