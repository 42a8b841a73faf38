"""The kit: helpers that every module uses. It imports nothing else from core."""
