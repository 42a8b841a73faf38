"""Windows of clients: the session that a call belongs to, and sessions that begin or are live."""
