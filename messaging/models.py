"""Imports the models of all nouns, so that Django finds them."""

from messaging.messages.models import Delivery, Message, MessageType, RequestState, Result
