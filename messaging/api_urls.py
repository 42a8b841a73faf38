"""REST routes of the messaging app."""

from django.urls import path

from ctxhub.rest.routes import routes
from messaging.messages.api import (
    MessageBatchViewSet,
    MessageViewSet,
    ReceiptViewSet,
    RequestViewSet,
    ThreadViewSet,
)

in_project = [
    path("messages/batch/", MessageBatchViewSet.as_view({"post": "create"})),
    path("messages/read/", ReceiptViewSet.as_view({"post": "read_many"})),
    path("messages/claim/", RequestViewSet.as_view({"post": "claim_next"})),
    *routes("messages/", "id:message_id", MessageViewSet),
    path("messages/<id:message_id>/status/", ReceiptViewSet.as_view({"get": "list"})),
    path("messages/<id:message_id>/read/", ReceiptViewSet.as_view({"post": "read"})),
    path("messages/<id:message_id>/ack/", ReceiptViewSet.as_view({"post": "ack"})),
    path("messages/<id:message_id>/claim/", RequestViewSet.as_view({"post": "claim"})),
    path("messages/<id:message_id>/done/", RequestViewSet.as_view({"post": "done"})),
    path("threads/<id:message_id>/", ThreadViewSet.as_view({"get": "list"})),
]
