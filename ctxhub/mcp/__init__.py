"""The MCP server, its transports and their authentication. Only this package imports the MCP SDK."""
