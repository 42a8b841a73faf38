"""An agent's sitting: save, restore, prioritise."""
