"""The MCP server on stdio that passes the messages of a client to the hub, and its answers back."""
