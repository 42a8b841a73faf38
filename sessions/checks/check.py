"""Answers `check`: what must hold for some files, and who else is at them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import product
from typing import Annotated, Any, NotRequired, cast

# Pydantic builds the answer's schema and needs this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.agents import agent_names
from ctxhub.core.accounts.speakers import Speaker, speaker_of
from ctxhub.core.kit import clock
from ctxhub.core.kit.answers import size
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import clean_query
from ctxhub.core.kit.listing import Fitting, Listing, Show
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.bearing import specificity
from ctxhub.core.paths.case import Compared, compared_by
from ctxhub.core.paths.queries import find_bearings
from ctxhub.core.paths.reading import reader_of
from ctxhub.core.search.documents import Document
from ctxhub.core.search.rankings import Rankings, rank_objects
from ctxhub.toolbox.argument_types import About, RowsOf, Time
from sessions.briefs.brief import clean_budget
from sessions.briefs.objects import scopes_of, sorting_of, with_scopes
from sessions.briefs.packing import CHECK_SHARES, json_form, pack
from sessions.briefs.rows import (
    Candidate,
    Packed,
    Sections,
    one_line,
    read_documents,
    row_text,
    with_stale_marked,
)
from tracking.changes.queries import changes_on_paths
from tracking.changes.rows import ChangeRow
from tracking.files.paths import clean_filters
from tracking.leases.queries import leases_on_paths, said_of_session
from tracking.leases.rows import LeaseRow

DEFAULT_BUDGET = 800
SECTIONS = ("constraints", "decisions", "leases", "changes")
COLUMNS = ("ref", "text", "by", "at", "why")
MOST = 20
RECENT = timedelta(hours=1)
INTENT = 5
# What is left of the text of the row that decides, where the budget has no room for more.
SHORT_TOKENS = 12
KINDS = {"constraints": "constraint", "decisions": "decision"}
# How an object bears on a path, what was said of the path itself first.
BY_PATH, BY_SCOPE, EVERYWHERE, BY_INTENT = range(4)


class CheckRow(TypedDict):
    ref: str
    text: str
    by: str
    at: Time | None
    why: str


BearingRows = Annotated[Listing, RowsOf(CheckRow)]


class CheckAnswer(TypedDict):
    clear: bool
    constraints: BearingRows
    decisions: BearingRows
    leases: BearingRows
    changes: BearingRows
    omitted: NotRequired[dict[str, int] | int]
    hint: NotRequired[Annotated[str, About("How a path was read that may be a name as it is.")]]
    mail: NotRequired[int]


@frozen
class Reason:
    """Why an object bears on a path: lower `basis` first, then the more specific glob or scope."""

    basis: int
    why: str
    specific: tuple[int, ...] = ()

    @property
    def order(self) -> tuple[int, list[int]]:
        return self.basis, [-part for part in self.specific]


@frozen
class Rule:
    """A constraint or decision that bears on the paths. `priority`: 0 for decisions; `match`: the intent."""

    id: int
    priority: int
    reason: Reason
    match: float = 0.0

    @property
    def is_named(self) -> bool:
        return self.reason.basis == BY_PATH and self.priority != Priority.CRITICAL

    @property
    def is_must(self) -> bool:
        """Constraints alone: decisions have no priority."""
        return self.priority == Priority.CRITICAL or (self.priority > 0 and self.is_named)

    @property
    def order(self) -> tuple[bool, tuple[int, list[int]], int, float]:
        return self.priority != Priority.CRITICAL, self.reason.order, -self.priority, -self.match


@frozen
class Check:
    """What bears on some paths: the rows of each section, and how many there are in all."""

    sections: Mapping[str, Sequence[Candidate]]
    counts: Mapping[str, int]
    is_clear: bool
    budget: int
    mail: int = 0
    hint: str = ""

    def answer(self) -> Fitting[CheckAnswer]:
        """As much as the budget has room for, in the form that it is shown in."""

        def build(show: Show) -> Any:
            def measure(packed: Packed, by_name: bool) -> int:
                return size(show(self._answer(packed, by_name)))

            first, by_name = self._first(measure)
            form = json_form(lambda packed: measure(packed, by_name))
            sections = self._with(first) if first else self.sections
            packed = pack(sections, self.budget, form, shares=CHECK_SHARES, first=first)
            return show(self._answer(packed, by_name))

        return Fitting(build)

    def _first(self, measure: Callable[[Packed, bool], int]) -> tuple[Candidate | None, bool]:
        """The row that decides that it is not clear, as far as there is room, and how `omitted` is told."""
        if self.is_clear:
            return None, True
        leases, changes = self.sections["leases"], self.sections["changes"]
        decides = leases[0] if leases and leases[0].is_must else changes[0]
        for by_name, one in product((True, False), _shorter_and_shorter(decides)):
            if measure(Packed([one], names=SECTIONS), by_name) <= self.budget:
                return one, by_name
        return None, True

    def _with(self, first: Candidate) -> Mapping[str, Sequence[Candidate]]:
        """The sections, where this is the first row of its own."""
        return {**self.sections, first.section: [first, *self.sections[first.section][1:]]}

    def _answer(self, packed: Packed, by_name: bool) -> CheckAnswer:
        """`by_name`: `omitted` counts by section, else it is one number."""
        chosen = packed.sections()
        lists = {name: Listing(COLUMNS, [_row(one) for one in chosen.get(name, ())]) for name in SECTIONS}
        left = {name: self.counts[name] - len(chosen.get(name, ())) for name in SECTIONS}
        omitted = {name: count for name, count in left.items() if count}
        more = {"omitted": omitted if by_name else sum(omitted.values())} if omitted else {}
        hint = {"hint": self.hint} if self.hint else {}
        mail = {"mail": self.mail} if self.mail else {}
        return cast(CheckAnswer, {"clear": self.is_clear, **lists, **more, **hint, **mail})


def check(
    *,
    caller: Caller,
    paths: Sequence[str],
    intent: str | None = None,
    budget_tokens: int = DEFAULT_BUDGET,
    mail: int = 0,
) -> Check:
    """What must hold for 1 to 50 paths or globs, and which other agents are at them.

    `intent`: what is to be done there; the five best matches are added. Raises InvalidInput.
    """
    budget = clean_budget(budget_tokens)
    reader = reader_of(caller)
    patterns = clean_filters(paths, reader=reader)
    wanted = clean_query(intent, "intent") if intent and intent.strip() else ""
    now, folded = clock.now(), caller.agent.casefold()
    compared = compared_by(caller)
    speaker = speaker_of(caller)
    leases = leases_on_paths(caller.project_id, speaker, patterns, now, compared)
    changed, changed_count = changes_on_paths(
        caller.project_id, folded, patterns, now - RECENT, limit=MOST, compared=compared
    )
    is_clear = not changed and not any(lease.exclusive for lease in leases)
    rules, counts = _rules(caller.project_id, patterns, wanted, compared)
    sections = {
        **rules,
        "leases": [
            _lease(row, speaker, now) for row in sorted(leases, key=lambda row: not row.exclusive)[:MOST]
        ],
        "changes": [_change(row, now) for row in changed],
    }
    counts |= {"leases": len(leases), "changes": changed_count}
    return Check(sections, counts, is_clear, budget, mail, reader.hint)


def _rules(
    project_id: int, patterns: Sequence[str], intent: str, compared: Compared
) -> tuple[Sections, dict[str, int]]:
    """The constraints and decisions that bear on the paths, and how many there are."""
    reasons, rankings = _reasons(project_id, patterns, intent, compared)
    ordered = {
        section: _in_order(project_id, kind, reasons[kind], rankings.scores)
        for section, kind in KINDS.items()
    }
    best = {section: _best(found) for section, found in ordered.items()}
    documents = read_documents(project_id, ((KINDS[name], rule.id) for name in best for rule in best[name]))
    names = agent_names(project_id, (document.agent_id for document in documents.values()))

    def candidate(section: str, position: int, rule: Rule, document: Document) -> Candidate:
        kind = KINDS[section]
        return Candidate(
            section=section,
            ref=document.ref,
            write=partial(row_text, kind, document, rankings),
            by=names.get(document.agent_id or 0, "system"),
            at=format_time(document.at),
            score=1 / (position + 1),
            is_must=rule.is_must,
            is_named=rule.is_named,
            why=rule.reason.why,
            key=(kind, rule.id),
        )

    rows = {
        section: [
            candidate(section, position, rule, documents[KINDS[section], rule.id])
            for position, rule in enumerate(found)
            if (KINDS[section], rule.id) in documents
        ]
        for section, found in best.items()
    }
    counts = {section: len(found) for section, found in ordered.items()}
    return with_stale_marked(project_id, rows, reorders=False), counts


def _best(rules: Sequence[Rule]) -> list[Rule]:
    """The first of the rules; many critical ones leave half of the places to those of the path."""
    named = [rule for rule in rules if rule.is_named][: MOST // 2]
    others = [rule for rule in rules if rule not in named][: MOST - len(named)]
    return sorted((*others, *named), key=lambda rule: rule.order)


def _in_order(
    project_id: int, kind: str, reasons: Mapping[int, Reason], matches: Mapping[ObjectKey, float]
) -> list[Rule]:
    """The objects in force as `Rule.order` says, the newest first of equal ones."""
    sorting = sorting_of(project_id, kind, list(reasons)) if reasons else {}
    newest = sorted(sorting, key=lambda object_id: (sorting[object_id][1], object_id), reverse=True)
    rules = [
        Rule(object_id, sorting[object_id][0], reasons[object_id], matches.get((kind, object_id), 0.0))
        for object_id in newest
    ]
    return sorted(rules, key=lambda rule: rule.order)


def _reasons(
    project_id: int, patterns: Sequence[str], intent: str, compared: Compared
) -> tuple[Mapping[str, Mapping[int, Reason]], Rankings]:
    """By kind and id: the most specific reason why an object bears on the paths."""
    reasons: dict[str, dict[int, Reason]] = {kind: {} for kind in KINDS.values()}

    def add(kind: str, object_id: int, reason: Reason) -> None:
        known = reasons[kind].get(object_id)
        if known is None or reason.order < known.order:
            reasons[kind][object_id] = reason

    by_pattern: dict[str, Reason] = {}
    for each in find_bearings(project_id, patterns, list(KINDS.values()), compared):
        if each.pattern not in by_pattern:
            by_pattern[each.pattern] = _by_pattern(each.pattern)
        add(each.kind, each.object_id, by_pattern[each.pattern])
    scopes = scopes_of(patterns)
    for kind in KINDS.values():
        for object_id, scope in with_scopes(project_id, kind, scopes) if scopes else ():
            add(kind, object_id, Reason(BY_SCOPE, f"scope {scope}", (scope.count("/"),)))
    rankings = rank_objects(project_id, intent, list(KINDS.values()), limit=INTENT) if intent else Rankings()
    best = sorted(rankings.scores.items(), key=lambda item: -item[1])[:INTENT]
    for (kind, object_id), score in best:
        add(kind, object_id, Reason(BY_INTENT, f"intent {score:.2f}".replace("0.", ".")))
    return reasons, rankings


def _by_pattern(pattern: str) -> Reason:
    if not pattern:
        return Reason(EVERYWHERE, "everywhere")
    return Reason(BY_PATH, f"path {pattern}", specificity(pattern))


def _row(one: Candidate) -> list[Any]:
    ref, text, by, at, why = one.row
    return [ref, text, by, at or None, why]


def _shorter_and_shorter(one: Candidate) -> Iterator[Candidate]:
    """A row, with less and less of it; who is there, and until when, stays."""
    short = one.of_length(SHORT_TOKENS)
    yield from (one, short, replace(short, at=""), replace(short, at="", write=lambda _: ""))


def _lease(row: LeaseRow, speaker: Speaker, now: datetime) -> Candidate:
    kind = "exclusive" if row.exclusive else "shared"
    reason = f" ({row.reason})" if row.reason else ""
    own = ""
    if row.folded == speaker.folded:
        own = (
            f"; another session of yours, {said_of_session(speaker, row, now)}:"
            f" if it is over, {operation('file release')} lease_id={row.id}"
        )
    return Candidate(
        section="leases",
        ref=f"lease:{row.id}",
        write=partial(one_line, f"{kind}: {', '.join(row.paths)}{reason}{own}"),
        by=row.agent,
        at=format_time(row.created_at),
        score=1.0,
        is_must=row.exclusive,
        why=f"until {format_time(row.expires_at)[11:16]}Z",
    )


def _change(row: ChangeRow, now: datetime) -> Candidate:
    minutes = int((now - row.at).total_seconds() // 60)
    return Candidate(
        section="changes",
        ref=f"change:{row.id}",
        write=partial(one_line, f"{row.path}{f': {row.description}' if row.description else ''}"),
        by=row.agent,
        at=format_time(row.at),
        score=0.5,
        why=f"{row.change_label} {minutes} min ago",
    )
