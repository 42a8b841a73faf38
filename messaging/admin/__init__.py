"""What people see of what agents say to one another."""

from messaging.admin import messages, overview

__all__ = ["messages", "overview"]
