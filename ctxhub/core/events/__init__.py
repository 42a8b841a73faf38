"""Events: the event log, the counters, long polling for new events, and retention."""
