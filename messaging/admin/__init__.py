"""Admin pages for messages."""

from messaging.admin import agent_panels, messages, needs, overview, timeline

__all__ = ["agent_panels", "messages", "needs", "overview", "timeline"]
