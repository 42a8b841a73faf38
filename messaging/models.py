from messaging.messages.models import Delivery, Message, MessageType, RequestState, Result

__all__ = ["Delivery", "Message", "MessageType", "RequestState", "Result"]
