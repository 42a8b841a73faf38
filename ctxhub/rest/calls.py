"""Runs any tool operation over REST, with the same arguments, responses, scopes and errors."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import OpenApiExample
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.kit.errors import InvalidInput
from ctxhub.rest.operations import operation
from ctxhub.rest.schemas import ANYTHING
from ctxhub.rest.views import ProjectViewSet, request_key
from ctxhub.toolbox.dispatch import call

AS_THE_OPERATION: Any = {"request": {"application/json": ANYTHING}, "responses": {200: ANYTHING}}
NOTHING_TO_SAY = OpenApiExample("No arguments", value={}, request_only=True)


class CallViewSet(ProjectViewSet):
    names_tools = True
    scopes = {"run": None, "run_action": None}  # The operation checks its own scope.

    @operation(operation_id="call", examples=[NOTHING_TO_SAY], **AS_THE_OPERATION)
    def run(self, request: Request, slug: str, tool: str) -> Response:
        """Run an operation: its arguments as body, `action` among them where the tool has several."""
        return self._run(tool, _arguments(request.data))

    @operation(operation_id="call_action", examples=[NOTHING_TO_SAY], **AS_THE_OPERATION)
    def run_action(self, request: Request, slug: str, tool: str, action: str) -> Response:
        """Run an operation: `call/decision/set/`; `call/decision/help/` lists a tool's operations."""
        return self._run(tool, _arguments(request.data, action))

    def _run(self, tool: str, arguments: dict[str, Any]) -> Response:
        return Response(call(self.caller, tool, arguments, request_id=request_key(self.request)))


def _arguments(body: Any, action: str = "") -> dict[str, Any]:
    if not isinstance(body, Mapping):
        raise InvalidInput("The body must be an object: the arguments by name.")
    if action and body.get("action") not in (None, action):
        raise InvalidInput(f"action is {action!r} in the address and {body['action']!r} in the body.")
    return {**body, **({"action": action} if action else {})}
