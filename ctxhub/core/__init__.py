"""What every app stands on, and no more."""
