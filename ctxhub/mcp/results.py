"""Turns an answer or an error of the hub into an MCP tool result."""

from typing import Any

from ctxhub.core.kit.answers import fit
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.text.token_count import count_tokens
from ctxhub.toolbox.dispatch import as_text

TOKENS = "ctxhub/tokens"


def answer_result(answer: dict[str, Any], *, structured: bool) -> dict[str, Any]:
    return {**_result(answer, is_error=False), **({"structuredContent": answer} if structured else {})}


def error_result(error: CtxhubError) -> dict[str, Any]:
    """The error as in the contract, from which a model can correct its call."""
    return _result(fit(error.body()), is_error=True)


def _result(body: dict[str, Any], *, is_error: bool) -> dict[str, Any]:
    text = as_text(body)
    return {
        "content": [{"type": "text", "text": text}],
        "isError": is_error,
        "_meta": {TOKENS: count_tokens(text)},
    }
