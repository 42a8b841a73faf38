"""The only place that knows the MCP SDK: server, transports, authentication."""
