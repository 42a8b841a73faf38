"""What agents were given and wrote, so that each hears of changes, and of each thing once."""
