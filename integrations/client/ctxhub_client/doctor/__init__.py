"""Looks at all that has to be right for clients to reach the hub, and says what to do where it is not."""
