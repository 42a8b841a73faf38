"""Imports a Scratchpad MCP database into a project. Only `reader` knows its schema."""
