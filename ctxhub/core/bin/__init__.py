"""The bin: what was deleted by a person or an agent, for 30 days."""
