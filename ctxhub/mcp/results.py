"""Turns an answer or an error of the hub into an MCP tool result."""

from typing import Any

import mcp_types as types

from ctxhub.core.kit.answers import fit
from ctxhub.core.kit.errors import CtxhubError
from ctxhub.core.text.token_count import count_tokens
from ctxhub.core.toolbox.dispatch import as_text

TOKENS = "ctxhub/tokens"


def answer_result(answer: dict[str, Any], *, structured: bool) -> types.CallToolResult:
    return _result(answer, structured=answer if structured else None, is_error=False)


def error_result(error: CtxhubError) -> types.CallToolResult:
    """The error as in the contract, from which a model can correct its call."""
    return _result(fit(error.body()), structured=None, is_error=True)


def _result(
    body: dict[str, Any], *, structured: dict[str, Any] | None, is_error: bool
) -> types.CallToolResult:
    text = as_text(body)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=structured,
        is_error=is_error,
        _meta={TOKENS: count_tokens(text)},
    )
