"""What the team knows: decisions and, later, constraints, memories, snapshots, scratchpads."""
