"""Briefs: what an agent should know when it begins, within a budget of tokens."""
