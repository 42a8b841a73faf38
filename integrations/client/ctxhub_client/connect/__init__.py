"""Writes the hub's server, hooks and rules into the files of coding clients, and takes them out again."""
