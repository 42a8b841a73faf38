"""The REST API: what views take and answer, from signatures and TypedDicts; and the endpoints of core."""
