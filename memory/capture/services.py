"""Saves a text as a memory if it is worth keeping and new."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.given import given_lately
from ctxhub.core.hub.refs import ObjectKey, find_objects
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import READ, Caller
from ctxhub.core.kit.errors import InvalidInput
from ctxhub.core.kit.inputs import clean_choice, refuse_unstorable
from ctxhub.core.search.candidates import find_candidates
from ctxhub.core.search.engines import Narrowing
from ctxhub.core.search.matches import COUNTED_TO, frequencies
from ctxhub.core.search.queries import Query, Term, parse_similarity
from ctxhub.core.search.ranking import worth
from ctxhub.core.search.similarity import COMPARED_CHARACTERS, Rarity
from ctxhub.core.text.front_matter import without_front_matter
from ctxhub.core.vocabulary.names import find_vocabulary
from ctxhub.toolbox.argument_types import About
from memory.capture.patterns import LEAST, Pattern, find_pattern, find_title, is_short, type_of
from memory.capture.scores import DUPLICATE, SAVED_ABOVE, Parts, containment, parts_of, words_in_order
from memory.contexts.inputs import ContextFields, clean_context, is_number
from memory.contexts.queries import get_context
from memory.contexts.suggest import find_fitting_context, propose_context
from memory.memories.inputs import MemoryFields, clean_memory
from memory.memories.models import MemoryType
from memory.memories.queries import Score, TypeLabel
from memory.memories.services import store_memory
from memory.memories.similar import KIND, Likely, compare, find_likely, read_texts_since

GENERAL = "general"
# Instead of a context: the one that fits, else a new one as `suggest_context` proposes it.
AUTO = "auto"
# Passages compared with a text. COUNTED of its words are counted, the RAREST of these find the passages.
PASSAGES = 40
RAREST, COUNTED = 12, 24
# Most memories compared that others added during a capture; CLOCKS_DIFFER bounds the clocks' difference.
ADDED_MEANWHILE = 50
CLOCKS_DIFFER = timedelta(seconds=10)


class PartsAnswer(TypedDict):
    pattern: Score
    uniqueness: Score
    specificity: Score
    quality: Score


class CaptureAnswer(TypedDict):
    saved: bool
    id: NotRequired[int]
    confidence: Annotated[Score, About(f"Saved above {SAVED_ABOVE}.")]
    parts: PartsAnswer
    duplicate_of: NotRequired[Annotated[str, About("The ref of what says the same.")]]
    reason: NotRequired[Annotated[str, About("Why it is not saved.")]]
    context: NotRequired[str]
    type: NotRequired[TypeLabel]
    title: NotRequired[str]
    context_created: NotRequired[Annotated[bool, About("Its context is new.")]]


def capture(
    *,
    caller: Caller,
    content: str,
    context: str | int | None = None,
    type: str | int | None = None,  # The contract's name.
    title: str | None = None,
    dry_run: bool = False,
) -> CaptureAnswer:
    """Save a text that scores above SAVED_ABOVE, unless a memory or another agent's text holds it already.

    Without a context it goes to the one that fits, else to GENERAL, or with AUTO to a new one; a context with
    that name is `context:auto`. `dry_run` writes nothing.
    """
    is_auto = isinstance(context, str) and context.strip().casefold() == AUTO
    context = None if is_auto else context
    if not content.strip():
        raise InvalidInput("content must not be blank.")
    refuse_unstorable(content, "content")
    said = without_front_matter(content)
    pattern = find_pattern(said)
    memory_type = type_of(said) if type in (None, "") else clean_choice(type, MemoryType, "type")
    fields = clean_memory(
        caller,
        title=title or find_title(content, pattern),
        content=content,
        context=context or GENERAL,
        type=memory_type,
    )
    if is_number(str(fields.context)):
        get_context(caller.project_id, str(fields.context))
    began_at = clock.now()
    likely = find_likely(caller.project_id, content)
    parts, duplicate = _judge(caller, content, pattern, likely)
    answer = _answer(caller, content, parts, duplicate)
    if "reason" in answer:
        return answer
    new = None
    if not context:
        fitting = find_fitting_context(caller.project_id, content, likely)
        new = _propose(caller, content, likely) if is_auto and not fitting else None
        fields = replace(fields, context=fitting or (new.name if new else GENERAL))
    if dry_run or is_auto:
        answer["context"] = str(fields.context)
    if dry_run:
        answer["type"], answer["title"] = str(memory_type.label), str(fields.title)
        return answer
    return _save(caller, fields, answer, since=began_at, new_context=new)


# -- Pieces ----------------------------------------------------------------------------------------


def _propose(caller: Caller, content: str, likely: Likely) -> ContextFields | None:
    """The context to make for a text; None if its keywords are no name of a context."""
    proposed = propose_context(caller.project_id, content, likely)
    try:
        return clean_context(caller, **proposed) if proposed else None
    except InvalidInput:
        return None


def _judge(caller: Caller, content: str, pattern: Pattern, likely: Likely) -> tuple[Parts, str | None]:
    """The parts of the confidence, and the ref of a duplicate or None."""
    most_similar = compare(likely)[:1]
    parts = parts_of(content, pattern, most_similar[0].score if most_similar else 0.0, likely.rarity)
    if most_similar and most_similar[0].score >= DUPLICATE:
        return parts, f"{KIND}:{most_similar[0].id}"
    return parts, _find_copy(caller, content, likely.rarity)


def _find_copy(caller: Caller, content: str, rarity: Rarity) -> str | None:
    """The ref of an object that has DUPLICATE of the text's words in order.

    A memory, another agent's object, or one of the agent's own that it was given lately.
    """
    words = words_in_order(content)
    holding = [
        key
        for key, passages in _passages_like(caller.project_id, content, rarity).items()
        if containment(words, passages) >= DUPLICATE
    ]
    own = find_vocabulary(caller.project_id, agent=caller.agent).agent_id if holding else None
    found = find_objects(caller.project_id, holding)
    for (kind, _), obj in found.items():
        if kind == KIND or own is None or obj.document.agent_id != own:
            return obj.ref
    given = given_lately(caller, found.keys())
    return next((obj.ref for key, obj in found.items() if key in given), None)


def _passages_like(project_id: int, content: str, rarity: Rarity) -> Mapping[ObjectKey, Sequence[str]]:
    """The words of the passages that have the text's rarest words, by the key of their object.

    Only the words that are rare among memories are counted: counting a common word is slow.
    """
    scope = [[f"P{project_id}"]]
    terms = parse_similarity(content[:COMPARED_CHARACTERS]).wanted
    rarest_first = sorted(terms, key=lambda term: _commonness(term, rarity))[:COUNTED]
    counts = dict(zip(rarest_first, frequencies(scope, rarest_first), strict=True))
    rarest = sorted((term for term in rarest_first if counts[term]), key=lambda term: counts[term])[:RAREST]
    if not rarest:
        return {}
    weights = {term: worth(COUNTED_TO, counts[term]) for term in rarest}
    found, _ = find_candidates(Narrowing(scope), Query(tuple(rarest)), weights, PASSAGES, 1)
    passages: dict[ObjectKey, list[str]] = {}
    for candidate in found:
        if not candidate.is_earlier:
            passages.setdefault((candidate.kind, candidate.object_id), []).append(candidate.words)
    return passages


def _commonness(term: Term, rarity: Rarity) -> int:
    """The number of sampled memories that have the rarest word of the term."""
    return min(rarity.counts.get(word, 0) for spelling in term.spellings for word in spelling)


def _answer(caller: Caller, content: str, parts: Parts, duplicate: str | None) -> CaptureAnswer:
    answer = CaptureAnswer(
        saved=False,
        confidence=round(parts.confidence, 2),
        parts={
            "pattern": round(parts.pattern, 2),
            "uniqueness": round(parts.uniqueness, 2),
            "specificity": round(parts.specificity, 2),
            "quality": round(parts.quality, 2),
        },
    )
    if duplicate:
        _name_duplicate(caller, answer, duplicate)
    elif is_short(content) and not answer["parts"]["pattern"]:
        answer["reason"] = f"It has fewer than {LEAST} characters."
    elif parts.confidence <= SAVED_ABOVE:
        answer["reason"] = f"Only what is above {SAVED_ABOVE} is saved; memory add keeps it all the same."
    return answer


def _name_duplicate(caller: Caller, answer: CaptureAnswer, ref: str) -> None:
    """Say that the text exists. Only a token with the read scope learns where."""
    if caller.may(READ):
        answer["duplicate_of"] = ref
    answer["reason"] = "The hub holds this already."


class _AddedMeanwhile(Exception):
    """`ref`: the memory that contains the same text."""

    def __init__(self, ref: str) -> None:
        self.ref = ref


def _save(
    caller: Caller,
    fields: MemoryFields,
    answer: CaptureAnswer,
    *,
    since: datetime,
    new_context: ContextFields | None,
) -> CaptureAnswer:
    def check() -> None:
        _refuse_added_meanwhile(caller, fields, since)

    try:
        stored = store_memory(caller, fields, new_context=new_context, check=check)
    except _AddedMeanwhile as duplicate:
        _name_duplicate(caller, answer, duplicate.ref)
        return answer
    answer["saved"], answer["id"] = True, stored["id"]
    if stored.get("context_created"):
        answer["context_created"] = True
    return answer


def _refuse_added_meanwhile(caller: Caller, fields: MemoryFields, since: datetime) -> None:
    """Raise _AddedMeanwhile if another agent added the same text since `since`."""
    words = words_in_order(str(fields.content))
    newest = read_texts_since(caller.project_id, since - CLOCKS_DIFFER, ADDED_MEANWHILE, COMPARED_CHARACTERS)
    for text in newest:
        if containment(words, [" ".join(words_in_order(text.content))]) >= DUPLICATE:
            raise _AddedMeanwhile(f"{KIND}:{text.id}")
