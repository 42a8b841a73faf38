"""Imports from other programs: each database is read by a module of its own, and written as projects are."""
