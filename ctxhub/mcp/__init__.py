"""The MCP server, its transports and their authentication."""
