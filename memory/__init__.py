"""What the team knows: decisions, constraints, memories and their contexts, scratchpads and workflows."""
