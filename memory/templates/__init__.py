"""Templates: default and required fields for decisions of one kind."""
