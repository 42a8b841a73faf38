"""Admin pages for messages."""

from messaging.admin import messages, overview, timeline

__all__ = ["messages", "overview", "timeline"]
