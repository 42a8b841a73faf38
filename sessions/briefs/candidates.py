"""Reads the rows that may be in a briefing, the best of each section first."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial

from ctxhub.core.accounts.agents import agent_names
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.priority import Priority
from ctxhub.core.links import ObjectKey
from ctxhub.core.search.documents import Document
from memory.predictions.predictions import find_predicted
from messaging.messages.inbox import find_inbox
from sessions.briefs.objects import (
    newest_decisions,
    newest_memories,
    shared_topics,
    topics_of,
    urgent_constraints,
)
from sessions.briefs.questions import News, Question
from sessions.briefs.rows import (
    FIRST_TOKENS,
    JOINT_TOKENS,
    ROW_TOKENS,
    Candidate,
    one_line,
    read_documents,
    row_text,
)
from sessions.windows.last import LastSession, last_named, last_worked_in
from tracking.changes.queries import changes_by_others
from tracking.leases.queries import leases_of_others

NEWEST = timedelta(days=7)
CHANGES_OF = timedelta(hours=24)
MOST = 60
KINDS = {"constraints": "constraint", "decisions": "decision", "memories": "memory", "snapshots": "snapshot"}
SESSION_ITEMS = 4
# Scores of what is not ranked by the task.
NOT_ASKED = {Priority.CRITICAL: 1.0, Priority.HIGH: 0.6, Priority.MEDIUM: 0.4, Priority.LOW: 0.2}
WITH_TASK = 0.12  # The share of these that a constraint gets which does not match the task.
RECENT = 0.5
PREDICTED = 0.6  # Of the score of a prediction, beside that of the search.
LEASE, CHANGE, ON_THE_PATH = 0.1, 0.1, 0.7
TOPICS = 0.3  # What topics shared with the best matches add at most.
SUMMARY, ITEM = 0.8, 0.06
# What was decided and why: several decisions that may bear on a task say more than what else is in one.
DECISION_TOKENS = 2 * FIRST_TOKENS + JOINT_TOKENS

Scores = Mapping[ObjectKey, float]
Newest = Callable[[int, datetime, int], list[int]]
"""Reads the ids of a project's newest objects: project, since, limit."""


def constraints(question: Question, urgent: Mapping[int, int]) -> Scores:
    """The active constraints: by match, else by priority. `urgent`: the priorities of the most urgent."""
    scores = {("constraint", object_id): _unasked(question, urgent[object_id]) for object_id in urgent}
    for object_id in question.matching("constraint"):
        key = "constraint", object_id
        scores[key] = max(scores.get(key, 0.0), question.score(key))
    return scores


def decisions(question: Question) -> Scores:
    """The active decisions that match; without a task the newest of seven days."""
    return _matching(question, "decision", newest_decisions)


def memories(question: Question) -> Scores:
    """The memories that match; without a task the newest of seven days."""
    return _matching(question, "memory", newest_memories)


def snapshots(question: Question) -> Scores:
    """By the greater of the match and a share of the prediction."""
    predicted = find_predicted(question.project_id, MOST)
    scores = {("snapshot", object_id): PREDICTED * score for object_id, score in predicted}
    for object_id in question.matching("snapshot"):
        key = "snapshot", object_id
        scores[key] = max(scores.get(key, 0.0), question.score(key))
    return scores


def messages(question: Question) -> list[Candidate]:
    """The unread messages: urgent ones first, then by match."""
    found = find_inbox(question.project_id, question.folded, question.now, unread=True, limit=MOST)
    rows = [
        Candidate(
            section="messages",
            ref=f"message:{row.id}",
            write=partial(one_line, f"{row.priority_label} {row.type_label}: {row.text}"),
            by=row.sender,
            at=format_time(row.created_at),
            score=max(
                NOT_ASKED[Priority(row.priority)] / (2 if question.task else 1),
                question.score(("message", row.id)),
            ),
            is_must=row.priority >= Priority.HIGH,
        )
        for row, _ in found
    ]
    return sorted(rows, key=lambda one: one.order)


def leases(question: Question) -> list[Candidate]:
    """The live leases of others; first those on paths that the task names."""
    rows = leases_of_others(question.project_id, question.folded, question.now, limit=MOST)
    found = [
        Candidate(
            section="leases",
            ref=f"lease:{row.id}",
            write=partial(
                one_line,
                f"{'' if row.exclusive else 'shared, '}until {format_time(row.expires_at)[11:16]}Z:"
                f" {', '.join(row.paths)}{f' ({row.reason})' if row.reason else ''}",
            ),
            by=row.agent,
            at=format_time(row.created_at),
            score=LEASE + (ON_THE_PATH if question.names_path(row.paths) else 0),
        )
        for row in rows
        if question.is_new(f"lease:{row.id}")
    ]
    return sorted(found, key=lambda one: -one.score)


def changes(question: Question) -> list[Candidate]:
    """The last change of each file by others in 24 hours; first of paths that the task names."""
    rows = changes_by_others(question.project_id, question.folded, question.now - CHANGES_OF)
    found = [
        Candidate(
            section="changes",
            ref=f"change:{row.id}",
            write=partial(
                one_line, f"{row.path} {row.change_label}{f': {row.beginning}' if row.beginning else ''}"
            ),
            by=row.agent,
            at=format_time(row.at),
            score=CHANGE + (ON_THE_PATH if question.names_path([row.path]) else 0),
        )
        for row in rows
        # A new change is an event of its file, a corrected one of the change itself.
        if question.is_new(f"resource:{row.path}") or question.is_new(f"change:{row.id}")
    ]
    return sorted(found, key=lambda one: -one.score)[:MOST]


def session(question: Question) -> list[Candidate]:
    """Where work stopped: the newest session that another agent saved and the task names, then the own last.

    Of each its summary, then its most important items.
    """
    if question.new is not None:
        return []
    named = last_named(question.caller, question.task, SESSION_ITEMS) if question.task else None
    own = last_worked_in(question.caller, SESSION_ITEMS)
    return [*(_of_session(named) if named else ()), *(_of_session(own) if own else ())]


def _of_session(found: LastSession) -> list[Candidate]:
    texts = [found.summary, *(f"{item.category}: {item.content}".strip(" :") for item in found.items)]
    return [
        Candidate(
            section="session",
            ref=f"session:{found.id}",
            write=partial(one_line, text),
            by=found.agent,
            at=format_time(found.updated_at),
            score=max(SUMMARY - ITEM * position, 0),
        )
        for position, text in enumerate(filter(None, texts))
    ]


OTHERS: Mapping[str, Callable[[Question], list[Candidate]]] = {
    "session": session,
    "messages": messages,
    "leases": leases,
    "changes": changes,
}


def read_candidates(question: Question) -> dict[str, list[Candidate]]:
    """The candidates of each section, best first, at most MOST of each."""
    urgent = urgent_constraints(question.project_id, MOST)
    scores = {
        "constraints": constraints(question, urgent),
        "decisions": decisions(question),
        "memories": memories(question),
        "snapshots": snapshots(question),
    }
    if question.new is not None:
        scores = {section: _new(question, question.new, kind) for section, kind in KINDS.items()}
    return {
        **_written(question, {section: _best(question, found) for section, found in scores.items()}, urgent),
        **{section: read(question) for section, read in OTHERS.items()},
    }


# -- Pieces ----------------------------------------------------------------------------------------


def _unasked(question: Question, priority: int) -> float:
    """The score of a constraint that need not match the task."""
    factor = WITH_TASK if question.task and priority != Priority.CRITICAL else 1.0
    return factor * NOT_ASKED[Priority(priority)]


def _matching(question: Question, kind: str, newest: Newest) -> Scores:
    if question.task:
        return {(kind, object_id): question.score((kind, object_id)) for object_id in question.matching(kind)}
    found = newest(question.project_id, question.now - NEWEST, MOST)
    return {(kind, object_id): RECENT for object_id in found}


def _new(question: Question, new: News, kind: str) -> Scores:
    """The objects that others changed."""
    return {key: max(question.score(key), RECENT) for key in new.keys if key[0] == kind}


def _best(question: Question, scores: Scores) -> Scores:
    """The best ones, the newest first of equal ones; many others leave half to constraints of the paths."""
    best = sorted(scores, key=lambda key: (-scores[key], -key[1]))
    named = [key for key in best if key[0] == "constraint" and key in question.bearing]
    named = sorted(named, key=lambda key: question.bearing[key], reverse=True)[: question.most // 2]
    others = [key for key in best if key not in set(named)]
    return {key: scores[key] for key in [*named, *others][: question.most]}


def _written(
    question: Question, sections: Mapping[str, Scores], urgent: Mapping[int, int]
) -> dict[str, list[Candidate]]:
    """The candidates for objects, with the texts of their documents; those not in force are left out.

    Of constraints the critical ones come first, then those of the paths, the more specific first.
    """
    documents = read_documents(question.project_id, (key for scores in sections.values() for key in scores))
    names = agent_names(question.project_id, (document.agent_id for document in documents.values()))
    shared = _shared_topics(question, documents)

    def candidate(section: str, key: ObjectKey, document: Document, score: float) -> Candidate:
        urgency = urgent.get(key[1], 0) if section == "constraints" else 0
        is_named = section == "constraints" and key in question.bearing and urgency != Priority.CRITICAL
        return Candidate(
            section=section,
            ref=document.ref,
            write=partial(row_text, key[0], document, question.rankings),
            by=names.get(document.agent_id or 0, "system"),
            at=format_time(document.at),
            score=score + TOPICS * shared.get(key, 0.0),
            is_must=is_named or urgency == Priority.CRITICAL,
            is_named=is_named,
            specific=question.bearing.get(key, ()) if is_named else (),
            urgency=urgency,
            version=document.version,
            key=key,
            length=DECISION_TOKENS if section == "decisions" else ROW_TOKENS,
        )

    found = {
        section: [
            candidate(section, key, document, scores[key])
            for key, document in _newest_first(scores, documents)
            if not document.mark
        ]
        for section, scores in sections.items()
    }
    return {section: sorted(rows, key=lambda one: one.order) for section, rows in found.items()}


def _newest_first(
    keys: Iterable[ObjectKey], documents: Mapping[ObjectKey, Document]
) -> list[tuple[ObjectKey, Document]]:
    """The documents of objects by time; those of one time by the key of a decision, or the last id first."""
    found = [(key, documents[key]) for key in keys if key in documents]
    found.sort(key=lambda one: (-one[0][1], "") if one[0][0] != "decision" else (1, one[1].ref))
    found.sort(key=lambda one: one[1].at, reverse=True)
    return found


def _shared_topics(question: Question, documents: Mapping[ObjectKey, Document]) -> Mapping[ObjectKey, float]:
    """How much the objects share with the best matches of the task; nothing without a task."""
    if not question.task:
        return {}
    topics = {key: topics_of(key[0], document) for key, document in _newest_first(documents, documents)}
    return shared_topics(topics, {key: question.score(key) for key in topics})
