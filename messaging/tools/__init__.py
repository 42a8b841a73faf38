from messaging.tools import messages

__all__ = ["messages"]
