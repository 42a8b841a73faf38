"""Turns an answer or an error of the hub into an MCP tool result."""

from typing import Any

from ctxhub.core.kit.answers import fit
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.kit.failures import Failure
from ctxhub.core.kit.served import identified, note_failure, request_id
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import as_text

TOKENS = "ctxhub/tokens"
HTTP_REQUEST_ID = "ctxhub/http_request_id"


def answer_result(answer: dict[str, Any], *, structured: bool) -> dict[str, Any]:
    return {**_result(answer, is_error=False), **({"structuredContent": answer} if structured else {})}


def error_result(error: CtxhubError) -> dict[str, Any]:
    """The error as in the contract, from which a model can correct its call.

    Over HTTP with the id of the request: beside the text, which costs a model tokens, but for a failure of
    the hub, of which a person will want to find the lines in the log.
    """
    body = error.body()
    if isinstance(error, Failure):
        note_failure()
        body = identified(body)
    result = _result(fit(body), is_error=True)
    told = {HTTP_REQUEST_ID: served_id} if (served_id := request_id()) else {}
    return {**result, "_meta": {**result["_meta"], **told}}


def _result(body: dict[str, Any], *, is_error: bool) -> dict[str, Any]:
    text = as_text(body)
    return {
        "content": [{"type": "text", "text": text}],
        "isError": is_error,
        "_meta": {TOKENS: count_tokens(text)},
    }
