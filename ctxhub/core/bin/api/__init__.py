"""REST views of the bin."""
