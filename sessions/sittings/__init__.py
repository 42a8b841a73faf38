"""Sessions of agents: what was saved, which files were touched, and what fits into a budget."""
