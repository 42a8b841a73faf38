"""Requests: one agent claims each and finishes it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, NotRequired

# pydantic writes the answer's schema, and wants this TypedDict before Python 3.12.
from typing_extensions import TypedDict

from ctxhub.core.accounts.live_sessions import note_session
from ctxhub.core.accounts.speakers import Speaker, speaker_of
from ctxhub.core.hub.refs import file_named, meanings_of, means_several
from ctxhub.core.kit import clock, sql
from ctxhub.core.kit.caller import ALL_SCOPES, READ, WRITE, Caller, for_readers
from ctxhub.core.kit.clock import format_time
from ctxhub.core.kit.errors import Conflict, InvalidInput
from ctxhub.core.kit.holder import is_part
from ctxhub.core.kit.inputs import LIST_LENGTH, clean_from_to, refuse_secret
from ctxhub.core.kit.priority import Priority
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.transactions import write_transaction
from ctxhub.core.registry import split_ref
from ctxhub.core.text.secrets import find_secret
from ctxhub.core.text.sentences import in_one_line, shortened
from ctxhub.core.vocabulary.names import register_agent
from ctxhub.toolbox.argument_types import About
from messaging.messages.deliveries import (
    addressed_to,
    copy_to_deliveries,
    insert_results,
    mark_read,
    take_for_people,
)
from messaging.messages.history import claim_data, done_data, record_changes
from messaging.messages.inputs import MessageFields, clean_id
from messaging.messages.queries import get_message, message_item
from messaging.messages.rows import MESSAGES, MessageRow
from messaging.messages.services import not_addressed, send_checked
from messaging.models import MessageType, RequestState
from messaging.questions.answering import names, require_answerer


def next_request(project_id: int, folded: str, now: datetime) -> int | None:
    """The oldest of the most urgent open requests to the agent; an expired claim counts as open.

    One index scan for each priority: the index has the newest first, and the oldest is wanted.
    """
    branches, values = [], []
    for priority in Priority:
        for state, condition, extra_values in (
            (RequestState.OPEN, "", []),
            (RequestState.CLAIMED, _EXPIRED, [sql.stored_time(now)]),
        ):
            branches.append(_BRANCH.format(condition))
            values += [
                project_id,
                folded,
                MessageType.REQUEST.value,
                state.value,
                priority.value,
                *extra_values,
            ]
    statement = f"{' UNION ALL '.join(branches)} ORDER BY priority DESC, at, message_id LIMIT 1"
    found: list[Any] = sql.rows(statement, values)
    return found[0][0] if found else None


def hand_over_claims(project_id: int, agent_id: int, old: str, new: str, now: datetime) -> int:
    """Let what a session of the agent and its parts have claimed be held by another one; returns how many."""
    found = sql.rows(
        "SELECT id, claimed_session FROM messaging_message WHERE project_id = %s AND state = %s"
        " AND claimed_by_id = %s AND claimed_until > %s AND claimed_session <> '' AND claimed_made_up = %s",
        [project_id, RequestState.CLAIMED.value, agent_id, sql.stored_time(now), False],
    )
    passed = [(row_id, session) for row_id, session in found if is_part(session, old)]
    for row_id, session in passed:
        sql.execute(
            "UPDATE messaging_message SET claimed_session = %s WHERE id = %s",
            [new + session.removeprefix(old), row_id],
        )
    return len(passed)


# A value, not EXISTS: PostgreSQL would join that, and read the claims of everybody.
_EXPIRED = "AND (SELECT m.claimed_until FROM messaging_message m WHERE m.id = d.message_id) <= %s"
_BRANCH = """
    SELECT * FROM (SELECT d.message_id, d.priority, d.at FROM messaging_delivery d
    WHERE d.project_id = %s AND d.folded = %s AND d.type = %s AND d.state = %s AND d.priority = %s {}
    ORDER BY d.at, d.message_id LIMIT 1) arm"""


TEXT_CHARACTERS = 80
REF_CHARACTERS = 120
REFS_SHOWN = 5


def tell_asker(caller: Caller, request: MessageRow, refs: Sequence[str]) -> None:
    """Write into the thread of a request that the caller's agent has just done, in the same transaction.

    As urgent as the request is. No reply: it would stand among what the request led to, beside the results.
    The caller is never who asked: nobody takes an own request.
    """
    send_checked(
        # The hub tells it for who has only answered, too.
        replace(caller, scopes=ALL_SCOPES),
        MessageFields(
            text=_text(request, refs),
            to=[request.sender],
            type=MessageType.INFO,
            priority=Priority(request.priority),
            payload={"done": f"message:{request.id}"},
            reply_to=None,
            thread=request.thread,
        ),
    )


def _text(request: MessageRow, refs: Sequence[str]) -> str:
    # A message that holds a credential may have to be deleted, with all that it says.
    asked = "" if find_secret(request.text) else f": {_cut(request.text, TEXT_CHARACTERS)}"
    results = [_cut(ref, REF_CHARACTERS) for ref in refs[:REFS_SHOWN]]
    more = f" and {len(refs) - REFS_SHOWN} more" if len(refs) > REFS_SHOWN else ""
    result = f"\nResult: {', '.join(results)}{more}" if refs else ""
    return f"Your request message:{request.id} is done{asked}{result}"


def _cut(text: str, characters: int) -> str:
    line = in_one_line(text)
    return line if len(line) <= characters else shortened(line, characters)


LONGEST_MINUTES = 1_440
WHAT_RESULTS_ARE = "Results are refs: decision:api/auth, resource:src/a.py."
# A session that claims is noted as heard of: nothing else tells since when it holds a request.
NEVER = datetime.min.replace(tzinfo=UTC)


class ClaimAnswer(TypedDict):
    claimed: dict[str, Any] | None


class DoneAnswer(TypedDict):
    id: int
    state: Annotated[str, About("done")]
    result_refs: NotRequired[list[str]]


def claim_request(
    *, caller: Caller, message_id: int | None = None, following: bool = False, minutes: int = 30
) -> ClaimAnswer:
    """Claim a request for some minutes (1 to 1440), so that no other agent works on it; marks it as read.

    By its id, or with `following` the most urgent open one, the oldest first: `claimed` is null if there is
    none. A second claim by the holder extends it. Raises Conflict, naming holder and end, if another agent
    holds it, or another session of this one that was heard of within 15 minutes, or if it is done; NotFound
    if it is not addressed to the caller's agent.
    """
    require_answerer(caller, operation("message claim"))
    if following == (message_id is not None):
        raise InvalidInput("Give id, or next: true.", missing=[] if following else ["id"])
    wanted = None if message_id is None else clean_id(message_id, "id")
    clean_from_to(minutes, "minutes", 1, LONGEST_MINUTES)
    speaker = speaker_of(caller)
    with write_transaction(caller.project_id):
        at = clock.now()
        agent_id = register_agent(caller, at)
        row_id = wanted or next_request(caller.project_id, caller.agent.casefold(), at)
        if row_id is None:
            return {"claimed": None}
        message = _get_request(caller, row_id)
        if message.state == RequestState.DONE:
            raise _already_done(message)
        _refuse_held(message, caller, at)
        _refuse_held_by_another_session(message, speaker, at)
        until = at + timedelta(minutes=minutes)
        note_session(caller, at)
        _update(
            caller,
            message,
            state=RequestState.CLAIMED.value,
            claimed_by_id=agent_id,
            claimed_session=speaker.holder.session,
            claimed_made_up=speaker.holder.made_up,
            claimed_until=until,
        )
        if message.to_people:
            take_for_people(caller.project_id, row_id, caller.agent.casefold())
        mark_read(caller.project_id, caller.agent.casefold(), [row_id], at)
        claimed = (row_id, "claimed", claim_data(message.sender, until))
        record_changes(project_id=caller.project_id, agent_id=agent_id, changes=[claimed], at=at)
        return {"claimed": message_item(get_message(caller.project_id, row_id), at)}


def finish_request(
    *, caller: Caller, message_id: int, result_refs: Sequence[str] | None = None
) -> DoneAnswer:
    """Mark a request as done, with the refs (decision:api/auth) that resulted.

    Every session of the agent that holds it may, or any recipient while nobody holds it. Who asked gets a
    message. A second call changes nothing. Raises Conflict while another agent's claim is valid, or if
    another agent has done it.
    """
    require_answerer(caller, operation("message done"))
    message_id = clean_id(message_id, "id")
    refs = _clean_refs(caller, result_refs or ())
    with write_transaction(caller.project_id):
        at = clock.now()
        agent_id = register_agent(caller, at)
        message = _get_request(caller, message_id)
        if message.state == RequestState.DONE:
            if not _is_own(message, caller):
                raise _already_done(message)
            return _done(message_id, message.result_refs)
        _refuse_held(message, caller, at)
        state = RequestState.DONE.value
        _update(caller, message, state=state, claimed_by_id=agent_id, done_at=at, result_refs=refs)
        if refs:
            insert_results(caller.project_id, {message_id: refs})
        if message.to_people:
            take_for_people(caller.project_id, message_id, caller.agent.casefold())
        mark_read(caller.project_id, caller.agent.casefold(), [message_id], at)
        done = (message_id, "done", done_data(message.sender, refs))
        record_changes(project_id=caller.project_id, agent_id=agent_id, changes=[done], at=at)
        tell_asker(caller, message, refs)
    return _done(message_id, refs)


def _update(caller: Caller, request: MessageRow, **values: Any) -> None:
    MESSAGES.update(caller.project_id, request, replace(request, **values))
    copy_to_deliveries(request.id)


def _get_request(caller: Caller, message_id: int) -> MessageRow:
    """The request of this id. Raises NotFound or InvalidInput if the caller cannot claim it."""
    message = get_message(caller.project_id, message_id)
    if message.sender.casefold() == caller.agent.casefold():
        raise InvalidInput(f"message {message_id} is your own.", hint="A request is for others to claim.")
    if not addressed_to(caller.project_id, caller.agent.casefold(), [message_id]):
        raise not_addressed(caller, [message_id])
    if not names(message, caller.agent):
        caller.require(WRITE, "Taking a request to everyone")
    if not message.is_request:
        raise InvalidInput(
            f"message {message_id} is no request, but of the type {message.type_label}.",
            hint=f"{operation('message inbox')} with type request and state open shows what can be claimed.",
        )
    return message


def _refuse_held(message: MessageRow, caller: Caller, at: datetime) -> None:
    if message.is_held(at) and not _is_own(message, caller):
        until = format_time(message.claimed_until) if message.claimed_until else ""
        raise for_readers(
            Conflict(
                f"message {message.id} is claimed by {message.claimed_by!r} until {until}.",
                hint="Take another with next: true, or wait.",
                current={"by": message.claimed_by, "until": until},
            ),
            otherwise=f"message {message.id} is claimed by another agent.",
        )


def _refuse_held_by_another_session(message: MessageRow, speaker: Speaker, at: datetime) -> None:
    if not message.is_held(at) or not speaker.is_blocked_by(message.holder, NEVER, at):
        return
    until = format_time(message.claimed_until) if message.claimed_until else ""
    session = message.claimed_session
    raise Conflict(
        f"message {message.id} is claimed by another session of yours ({session}) until {until}.",
        hint="Take another with next: true. Any session of yours may finish it, with `done`.",
        current={"by": message.claimed_by, "session": session, "until": until},
    )


def _already_done(message: MessageRow) -> Conflict:
    return for_readers(
        Conflict(
            f"message {message.id} is done, by {message.claimed_by!r}.",
            hint=f"{operation('message thread')} shows what was said about it.",
            current={"by": message.claimed_by, "state": "done"},
        ),
        otherwise=f"message {message.id} is done.",
    )


def _is_own(message: MessageRow, caller: Caller) -> bool:
    return message.claimed_by is not None and message.claimed_by.casefold() == caller.agent.casefold()


def _done(message_id: int, refs: Sequence[str]) -> DoneAnswer:
    answer = DoneAnswer(id=message_id, state="done")
    if refs:
        answer["result_refs"] = list(refs)
    return answer


def _clean_refs(caller: Caller, refs: Sequence[str]) -> list[str]:
    """The refs in their usual form; a key or a path without its kind is read as what it names.

    Raises InvalidInput for what names several things, or nothing.
    """
    if len(refs) > LIST_LENGTH:
        raise InvalidInput(f"result_refs has {len(refs)} entries; the limit is {LIST_LENGTH}.")
    # Who may not read is not told what there is.
    meant = meanings_of(caller.project_id, refs) if caller.may(READ) else {}
    cleaned = []
    for ref in refs:
        noun, name = split_ref(_ref_meant(ref, meant.get(ref, ())))
        refuse_secret(name, "result_refs", caller)
        cleaned.append(f"{noun.kind}:{name}")
    return list(dict.fromkeys(cleaned))


def _ref_meant(ref: str, meant: Sequence[str]) -> str:
    """The ref itself, or that of the only thing that a name without a kind can mean. Raises InvalidInput."""
    if len(meant) == 1:
        return meant[0]
    if len(meant) > 1:
        raise means_several(ref, meant)
    if file := file_named(ref):
        return file
    try:
        split_ref(ref)
    except InvalidInput as error:
        hint = f"{WHAT_RESULTS_ARE} What is no object is said in {operation('message send')}, with reply_to."
        raise InvalidInput(f"result_refs: {error.message}", hint=hint, **error.details) from None
    return ref
