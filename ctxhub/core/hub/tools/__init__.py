from ctxhub.core.hub.tools import delete, get, hub, search

__all__ = ["delete", "get", "hub", "search"]
