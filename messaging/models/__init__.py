from messaging.models.delivery import Delivery
from messaging.models.message import Message, MessageType, RequestState

__all__ = ["Delivery", "Message", "MessageType", "RequestState"]
