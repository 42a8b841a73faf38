"""The toolbox: makes tools, argument validation and help from typed functions."""
