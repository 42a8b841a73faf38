"""Imports a sqlew database into a project. Only `database` and `reader` know its schema."""
