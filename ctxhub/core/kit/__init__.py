"""The kit: what every module uses. It imports nothing else of core."""
