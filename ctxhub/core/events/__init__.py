"""Events: the log, the counters, waiting for news, and retention."""
