"""Webhooks: the events of a project, posted to an address, in order and at least once."""
