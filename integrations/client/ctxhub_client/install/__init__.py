"""Adds the hooks, the rules and the guard of commits to the files of clients, and takes them away again."""
