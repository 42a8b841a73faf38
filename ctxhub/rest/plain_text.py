"""Answers in plain text, for shell scripts and hooks."""

import json
from collections.abc import Mapping
from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class NamedFormat(DefaultContentNegotiation):
    """`?format=` decides what is answered, also for clients whose headers accept something else."""

    def get_accept_list(self, request: Request) -> list[str]:
        accepted: list[str] = super().get_accept_list(request)
        return ["*/*"] if self.settings.URL_FORMAT_OVERRIDE in request.query_params else accepted


class PlainText(BaseRenderer):
    """Renders a text as it is. An error, which is an object, stays JSON."""

    media_type = "text/plain"
    format = "text"
    charset = "utf-8"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> str:
        if data is None:
            return ""
        if isinstance(data, str):
            return data
        if renderer_context:
            renderer_context["response"]["Content-Type"] = "application/json"
        return json.dumps(data, ensure_ascii=False, default=str)
