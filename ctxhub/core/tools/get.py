"""The tool `get`: opens anything by its ref."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, cast

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core import nouns
from ctxhub.core.answers import MAX_TOKENS, fit, size
from ctxhub.core.caller import Caller
from ctxhub.core.errors import InvalidInput
from ctxhub.core.inputs import LIST_LENGTH, clean_one_of
from ctxhub.core.toolbox.arguments import Number, Says, Words
from ctxhub.core.toolbox.dispatch import clean_max_tokens
from ctxhub.core.toolbox.registry import action, tool

tool("get", "Open anything by its ref, as lists and events name it (decision:api/auth).")


class GetAnswer(TypedDict):
    items: list[dict[str, Any]]
    missing: list[str]
    omitted: NotRequired[int]


@action("get", example={"refs": ["decision:api/auth/method"], "detail": "digest"})
def get(
    caller: Caller,
    refs: Words,
    detail: Annotated[str, Says("full|digest")] = "full",
    max_tokens: Number = MAX_TOKENS,
) -> GetAnswer:
    """Open up to 50 things by their refs.

    What does not exist in this project is listed in `missing`; `omitted` counts the last ones, for which
    max_tokens left no room. `digest` is a short form for deciding what to read.
    """
    if not 1 <= len(refs) <= LIST_LENGTH:
        raise InvalidInput(f"refs has {len(refs)} entries; name 1 to {LIST_LENGTH}.")
    full = clean_one_of(detail, ["full", "digest"], "detail") == "full"
    wanted = {ref: nouns.split_ref(ref) for ref in refs}
    opened = _open(caller.project_id, list(wanted.values()), full)
    items = [
        {"ref": f"{noun.kind}:{name}", **opened[noun.kind, name]}
        for noun, name in _found(wanted.values(), opened)
    ]
    missing = [ref for ref, (noun, name) in wanted.items() if (noun.kind, name) not in opened]
    return _within(clean_max_tokens(max_tokens), items, missing)


def _within(max_tokens: int, items: Sequence[dict[str, Any]], missing: list[str]) -> GetAnswer:
    """As many whole items as fit, `omitted` counting the rest; where not even one does, the first is cut."""

    def first(count: int) -> dict[str, Any]:
        omitted = {"omitted": len(items) - count} if count < len(items) else {}
        return {"items": list(items[:count]), "missing": missing, **omitted}

    counts = range(len(items) + 1)
    count = max(bisect_right(counts, max_tokens, key=lambda count: size(first(count))) - 1, 0)
    answer = fit(first(max(count, min(len(items), 1))), max_tokens)
    return cast(GetAnswer, answer if size(answer) <= max_tokens else first(0))


def _open(
    project_id: int, wanted: Sequence[tuple[nouns.Noun, str]], full: bool
) -> dict[tuple[str, str], Any]:
    """One query for each noun, however many refs."""
    names: dict[str, list[str]] = {}
    openers = {}
    for noun, name in wanted:
        names.setdefault(noun.kind, []).append(name)
        openers[noun.kind] = noun.open
    found: dict[tuple[str, str], Any] = {}
    for kind, opener in openers.items():
        assert opener is not None
        found |= {(kind, name): item for name, item in opener(project_id, names[kind], full).items()}
    return found


def _found(wanted: Any, opened: Any) -> list[tuple[nouns.Noun, str]]:
    return [(noun, name) for noun, name in wanted if (noun.kind, name) in opened]
