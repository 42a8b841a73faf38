"""Admin pages for messages."""

from messaging.admin import messages, needs, overview, timeline

__all__ = ["messages", "needs", "overview", "timeline"]
