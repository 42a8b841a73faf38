from ctxhub.core.tools import get, hub, search

__all__ = ["get", "hub", "search"]
