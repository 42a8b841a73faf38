"""Text: globs, patterns, credentials, tokens, parts. It imports nothing else of core but the kit."""
