"""Searches as one line, and a decision to find."""

from typing import Any

from ctxhub.core.kit.caller import Caller
from ctxhub.core.search.search import SearchResult, search
from memory.decisions.services import set_decision


def find(caller: Caller, query: str, **rest: Any) -> SearchResult:
    return search(caller.project_id, query, **rest)


def refs(caller: Caller, query: str, **rest: Any) -> list[str]:
    """The refs of the hits, best first, without numbers."""
    return [ref.rstrip("0123456789") for ref in found_refs(caller, query, **rest)]


def found_refs(caller: Caller, query: str, **rest: Any) -> list[str]:
    return [hit.ref for hit in find(caller, query, **rest).hits]


def decide(caller: Caller, key: str, value: str, **rest: Any) -> None:
    set_decision(caller=caller, key=key, value=value, **rest)
