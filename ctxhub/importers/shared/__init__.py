"""Code shared by all importers; program-specific code is in the sibling packages."""
