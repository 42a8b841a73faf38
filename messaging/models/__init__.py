from messaging.models.delivery import Delivery
from messaging.models.message import Message, MessageType, RequestState
from messaging.models.result import Result

__all__ = ["Delivery", "Message", "MessageType", "RequestState", "Result"]
