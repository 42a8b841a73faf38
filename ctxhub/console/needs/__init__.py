"""What needs a person, told on the first page."""
