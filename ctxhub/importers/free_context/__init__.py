"""From a database of Free Context into a project: `reader` knows the file alone, the rest knows ctxhub."""
