from ctxhub.core.hub.tools import get, hub, search

__all__ = ["get", "hub", "search"]
