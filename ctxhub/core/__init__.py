"""Core: the code that every app uses."""
