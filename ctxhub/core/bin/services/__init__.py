"""Fills the bin, restores what lies in it, and empties it."""
