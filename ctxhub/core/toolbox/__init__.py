"""The toolbox: typed functions in, tools, argument checking and help out."""
