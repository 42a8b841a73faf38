"""From a database of scratchpads into a project: `reader` knows the file alone, the rest knows ctxhub."""
