"""From a database of sqlew into a project: `reader` knows sqlew alone, the rest knows ctxhub."""
