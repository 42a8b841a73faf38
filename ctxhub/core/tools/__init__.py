from ctxhub.core.tools import get, hub

__all__ = ["get", "hub"]
