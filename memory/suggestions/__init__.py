"""What was decided already: similar keys, and decisions similar to a key, a text or tags."""
