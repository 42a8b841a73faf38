"""The window that a hook or a bridge belongs to: the process of the client that runs it, and its session."""
