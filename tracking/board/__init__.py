"""The board of leases: who holds which paths, drawn as a tree of paths with a bar for each lease."""
