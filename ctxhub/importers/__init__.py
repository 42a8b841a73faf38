"""Importers of other programs' databases: each has its own reader, and writes into a project."""
