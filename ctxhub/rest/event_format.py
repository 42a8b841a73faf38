"""The format of server-sent events."""

from rest_framework.exceptions import NotAcceptable

from ctxhub.rest.plain_text import PlainText


class EventStream(PlainText):
    """Renders the beginning of a stream as it is. An error stays JSON."""

    media_type = "text/event-stream"
    format = "events"


class OnlyEvents(NotAcceptable):
    """Something else was asked for where there are only events."""

    default_detail = "Events are sent as text/event-stream."
    hint = "Send the header Accept: text/event-stream, or none."
