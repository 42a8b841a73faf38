"""Admin pages for messages."""

from messaging.admin import messages, overview

__all__ = ["messages", "overview"]
