"""What a client's hooks ask the hub, and tell the client. A run imports only what its event needs."""
