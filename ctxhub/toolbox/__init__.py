"""The toolbox: makes tools, help, and the checks of arguments for MCP and REST from typed functions."""
