"""Answers the JSON-RPC message of a POST to `/mcp`, from the table of methods."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.failures import Failure, log_failure
from ctxhub.core.kit.served import UNKNOWN, note_method, note_refusal
from ctxhub.mcp.db_threads import run_in_thread, run_write
from ctxhub.mcp.eras import LATER_VERSIONS, check_batch
from ctxhub.mcp.http_versions import named_version, version_over_http
from ctxhub.mcp.json_rpc import (
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Id,
    Message,
    RpcError,
    as_message,
    decoded,
    error_response,
    find_request_id,
    id_in,
    refusal,
    response,
)
from ctxhub.mcp.long_polling import with_long_polling
from ctxhub.mcp.methods import METHODS, answer
from ctxhub.mcp.progress import Tell, telling
from ctxhub.mcp.requests import Request, Result, Surface, Work
from ctxhub.mcp.shares import Share
from ctxhub.mcp.subscriptions import Listening


class Reply(NamedTuple):
    """The status and the message of an answer; no message for what has no answer, such as notifications.

    `failure`: what failed through no fault of the caller, and may be tried again. `stream`: what is answered
    by a stream.
    """

    status: int
    message: dict[str, Any] | list[dict[str, Any]] | None = None
    failure: Failure | None = None
    stream: Listening | None = None


NO_ANSWER = Reply(202)


async def answer_body(
    body: bytes, headers: Mapping[str, str], caller: Caller, surface: Surface, tell: Tell | None = None
) -> Reply:
    """The answer to the message in the body, in the version of the protocol that the headers name.

    `tell`: sends notifications before it, as far as that is possible.
    """
    try:
        value = decoded(body)
        if isinstance(value, list):
            check_batch(value, named_version(headers))
    except RpcError as error:
        return Reply(400, error_response(find_request_id(body), error.body()))
    if not isinstance(value, list):
        return await _answer_message(value, headers, caller, surface, tell)
    replies = [await _answer_message(each, headers, caller, surface, tell) for each in value]
    messages = [reply.message for reply in replies if isinstance(reply.message, dict)]
    return Reply(200, messages) if messages else NO_ANSWER


async def _answer_message(
    value: Any, headers: Mapping[str, str], caller: Caller, surface: Surface, tell: Tell | None
) -> Reply:
    try:
        message = as_message(value)
        version = version_over_http(message, headers) if message else ""
    except RpcError as error:
        return Reply(400, error_response(id_in(value), error.body()))
    if message is None or message.id is None:
        return NO_ANSWER
    return await _Exchange(message.id, message, version, caller, surface).reply(tell)


class _Exchange:
    """A request, and what fails while it is answered."""

    def __init__(
        self, request_id: Id, message: Message, version: str, caller: Caller, surface: Surface
    ) -> None:
        self._id, self._message, self._version = request_id, message, version
        self._caller, self._surface = caller, surface
        self._failure: Failure | None = None

    async def reply(self, tell: Tell | None) -> Reply:
        try:
            result = await self._result(tell)
            reply = (
                Reply(200, stream=result)
                if isinstance(result, Listening)
                else Reply(200, response(self._id, result))
            )
        except RpcError as error:
            note_refusal()
            reply = Reply(self._status_of(error), error_response(self._id, error.body()))
        except Exception as error:
            log_failure(self._message.method, error)
            internal = RpcError(INTERNAL_ERROR, "Internal server error")
            return Reply(500, error_response(self._id, internal.body()))
        if self._failure is not None:
            return Reply(503, refusal(self._failure, self._id), self._failure)
        return reply

    async def _result(self, tell: Tell | None) -> Result | Listening:
        request = Request(
            self._message.method,
            self._message.params or {},
            self._version,
            self._caller,
            self._surface,
            on_failure=self._note,
            id=self._id,
        )
        note_method(request.method if request.method in METHODS else UNKNOWN)
        result = answer(request)
        if not isinstance(result, Work):
            return result
        with telling(request, tell):
            return await _done(result, Share.of(self._caller))

    def _note(self, failure: Failure) -> None:
        """Remember a failure that passes: to the method a failed call is an answer like any other."""
        if "retry_after" in failure.details:
            self._failure = failure

    def _status_of(self, error: RpcError) -> int:
        """Only the later era has statuses for errors of a request."""
        if self._version not in LATER_VERSIONS:
            return 200
        return 404 if error.code == METHOD_NOT_FOUND else 400


async def _done(work: Work, share: Share) -> Result:
    try:
        if work.writes():
            return await run_write(share.project, work.run)
        return await with_long_polling(partial(run_in_thread, share, work.run))
    except Exception as error:
        return work.failed(error)
