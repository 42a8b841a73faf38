"""The admin of the bin."""
