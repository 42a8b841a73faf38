"""Agent sessions: save, restore, prioritise."""
