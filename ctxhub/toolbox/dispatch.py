"""Runs a tool call: finds the action, checks scope and arguments, runs it and formats the answer."""

import json
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from typing import Any

from ctxhub.core.accounts.agents import touch_agent
from ctxhub.core.accounts.names_of_people import refuse_name_of_person
from ctxhub.core.call_sessions import clean_call_session
from ctxhub.core.events.mail import count_urgent
from ctxhub.core.given import give_opened
from ctxhub.core.hub.partial_reads import Reading
from ctxhub.core.kit.answers import MAX_TOKENS, fit
from ctxhub.core.kit.caller import Caller, acting
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, shown
from ctxhub.core.kit.inputs import clean_agent, clean_one_of
from ctxhub.core.kit.listing import Listing, with_rows
from ctxhub.core.kit.newer_schema import refuse_older_schema
from ctxhub.core.kit.outcomes import telling_outcome
from ctxhub.core.kit.read_limit import limited_read
from ctxhub.core.refusals.services import KIND_OF_NAME, count_refusal, is_refusal, ref_in
from ctxhub.core.use import tally
from ctxhub.core.vocabulary.queries import unknown_names
from ctxhub.toolbox.actions import Action
from ctxhub.toolbox.argument_types import present
from ctxhub.toolbox.common_arguments import AGENT, BUDGET, EXACT, FORMAT, FORMATS, SECRET, SESSION
from ctxhub.toolbox.help import help_for
from ctxhub.toolbox.picking import check_arguments, find_tool, pick_action
from ctxhub.toolbox.readers import hint_of_reader
from ctxhub.toolbox.stored_answers import answer_once

MAIL_TOKENS = 6
FLAGS = {"true": True, "1": True, "false": False, "0": False}
# No operation has more than a few dozen. What is done to each of 40,000 keeps all other threads waiting.
MOST_ARGUMENTS = 1_000


def call(
    caller: Caller, tool_name: str, arguments: Mapping[str, Any], *, request_id: str | None = None
) -> dict[str, Any]:
    """Run `tool_name` with `arguments` (including `action` and `agent`) and return the answer.

    An argument that is null counts as absent. `session` names the session that the call belongs to; an action
    that declares the argument gets it.
    A write with a `request_id` that the same agent sent within 24 hours returns the stored answer and writes
    nothing; an id of another call is a Conflict. Raises CtxhubError; then nothing was written. A read
    that takes too much processor time is stopped: TooMuchWork.
    """
    try:
        with telling_outcome(), acting(caller):
            refuse_older_schema()
            return _call(caller, tool_name, arguments, request_id)
    except CtxhubError as error:
        if is_refusal(error):
            count_refusal(_speaker(caller, arguments), error, _ref_named(tool_name, arguments))
        raise


def _call(
    caller: Caller, tool_name: str, arguments: Mapping[str, Any], request_id: str | None
) -> dict[str, Any]:
    if len(arguments) > MOST_ARGUMENTS:
        raise InvalidInput(
            f"{shown(tool_name)} was called with {len(arguments):,} arguments; "
            f"the limit is {MOST_ARGUMENTS:,}.",
            hint='The action "help" lists them.',
        )
    given = present(arguments)
    tool = find_tool(tool_name, given=given)
    name = _text(given, "action")
    if is_help(name):
        tally.running(caller, f"{tool.name}.help", writes=False)
        return help_for(tool, caller, _text(given, "name"))
    action = pick_action(tool, name, given)
    tally.running(caller, action.call, writes=action.writes)
    given = action.by_declared_names(given)
    action.require_scope(caller, given)
    with nullcontext() if action.writes_for(caller) else limited_read(action.shown_name):
        return _run(caller, action, given, request_id)


def _run(caller: Caller, action: Action, given: dict[str, Any], request_id: str | None) -> dict[str, Any]:
    connection = caller
    if agent := _text(given, AGENT.name):
        caller = caller.speaking_as(clean_agent(agent))
    refuse_name_of_person(caller)
    if agent:
        tally.running(caller, action.call, writes=action.writes)
    named = {} if action.takes_session else _take_session(given)
    caller = caller.in_session(named.get(SESSION.name))
    allowing, exact = _take_allow_secret(action, given), _take_exact(action, given)
    caller = caller.for_call(allow_secret=bool(allowing)).with_exact_paths(bool(exact))
    shape, budget = _take_format(action, given), _take_budget(action, given)
    with acting(caller):
        checked = check_arguments(action, given)

    def run() -> Any:
        answer = action.run(caller, **checked)
        return {**with_rows(answer, **shape), **caller.told_of_kept()} if action.writes else answer

    with acting(caller):
        answer = answer_once(
            caller,
            request_id if action.writes else None,
            run,
            operation=action.call,
            arguments={**checked, **named, **exact, **shape, **allowing},
        )
    touch_agent(caller)
    if isinstance(answer, Listing) and not answer.rows:
        answer = answer.beside(unknown_names(caller.project_id, action.arguments.filters_in(checked)))
    if isinstance(answer, Listing) and (hint := hint_of_reader(connection, caller, action)):
        answer = answer.with_hint(hint)
    if action.counts_mail:
        return _formatted(answer, **shape)
    formatted = _with_mail(caller, answer, {**shape, **budget})
    if isinstance(answer, Reading):
        give_opened(caller, answer.objects[: len(answer.objects) - formatted.get("omitted", 0)], formatted)
    return formatted


def writes(caller: Caller, tool_name: str, arguments: Mapping[str, Any]) -> bool:
    """Whether the call would write; False if it is invalid or the caller may not."""
    if len(arguments) > MOST_ARGUMENTS:
        return False
    given = present(arguments)
    try:
        name = _text(given, "action")
        return not is_help(name) and pick_action(find_tool(tool_name), name, given).writes_for(caller)
    except CtxhubError:
        return False


def is_help(action: str | None) -> bool:
    return action is not None and action.strip().lower() == "help"


def _text(given: dict[str, Any], name: str) -> str | None:
    value = given.pop(name, None)
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{name} must be a text.")
    return value


def _speaker(caller: Caller, arguments: Mapping[str, Any]) -> Caller:
    """The caller as the agent and in the session that a refused call names, if it may speak as that agent."""
    agent, session = arguments.get(AGENT.name), arguments.get(SESSION.name)
    if isinstance(session, str | int) and not isinstance(session, bool):
        caller = caller.in_session(session)
    if not isinstance(agent, str) or not agent:
        return caller
    with suppress(CtxhubError):
        speaker = caller.speaking_as(clean_agent(agent))
        refuse_name_of_person(speaker)
        return speaker
    return caller


def _ref_named(tool_name: str, arguments: Mapping[str, Any]) -> str:
    """The ref of the object that a refused call names."""
    given = present(arguments)
    if is_help(name := _text(given, "action")):
        return ""
    action = pick_action(find_tool(tool_name, given=given), name, given)
    kinds = {argument.name: argument.id_of for argument in action.arguments.all if argument.id_of}
    others = action.arguments.others
    named = {others[name].name if name in others else name: value for name, value in given.items()}
    return ref_in(named, {**kinds, **KIND_OF_NAME})


def _take_session(given: dict[str, Any]) -> dict[str, str]:
    """Take `session` from the arguments of an action that does not declare it."""
    value = given.pop(SESSION.name, None)
    return {} if value in (None, "") else {SESSION.name: clean_call_session(value, SESSION.name)}


def _take_allow_secret(action: Action, given: dict[str, Any]) -> dict[str, bool]:
    """Take `allow_secret` from the arguments of a write."""
    value = given.pop(SECRET.name, None) if action.writes else None
    word = str(value).strip().lower() if isinstance(value, bool | str) else ""
    if value is not None and word not in ("true", "false"):
        raise InvalidInput(f"{SECRET.name} must be true or false, not {shown(value)}.")
    return {SECRET.name: True} if word == "true" else {}


def _take_format(action: Action, given: dict[str, Any]) -> dict[str, Any]:
    """Take `format`, for answers with lists, from the arguments."""
    name = _text(given, FORMAT.name) if action.holds_lists else None
    chosen = clean_one_of(name or "rows", FORMATS, FORMAT.name)
    return {"as_objects": True} if chosen == "objects" else {}


def _take_exact(action: Action, given: dict[str, Any]) -> dict[str, bool]:
    """Take `exact`, of actions that take paths, from the arguments."""
    if not action.names_files or (value := given.pop(EXACT.name, None)) is None:
        return {}
    if not isinstance(value, bool) and str(value).strip().lower() not in FLAGS:
        raise InvalidInput(f"{EXACT.name} must be true or false, not {shown(value)}.")
    is_exact = value if isinstance(value, bool) else FLAGS[str(value).strip().lower()]
    return {EXACT.name: True} if is_exact else {}


def _take_budget(action: Action, given: dict[str, Any]) -> dict[str, Any]:
    """Take `max_tokens`, for lists and paged texts, from the arguments."""
    limit = given.pop(BUDGET.name, None) if action.takes_budget else None
    return {} if limit is None else {"max_tokens": clean_max_tokens(limit)}


def clean_max_tokens(value: Any) -> int:
    """Return a positive integer, given as number or text, limited to MAX_TOKENS. Raises InvalidInput."""
    try:
        limit = 0 if isinstance(value, bool) else int(value)
        is_whole = isinstance(value, str) or limit == value
    except (TypeError, ValueError, OverflowError):
        limit, is_whole = 0, False
    if not is_whole or limit < 1:
        raise InvalidInput(f"max_tokens must be a whole number from 1 to {MAX_TOKENS:,}, not {shown(value)}.")
    return min(limit, MAX_TOKENS)


def _with_mail(caller: Caller, answer: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Format the answer, and add the number of urgent messages that wait for the agent, if any."""
    if not (waiting := count_urgent(caller)):
        return _formatted(answer, **options)
    budget = options.pop("max_tokens", MAX_TOKENS)
    return {**_formatted(answer, **options, max_tokens=max(budget - MAIL_TOKENS, 1)), "mail": waiting}


def _formatted(answer: Any, *, as_objects: bool = False, max_tokens: int = MAX_TOKENS) -> dict[str, Any]:
    if isinstance(answer, Listing):
        return answer.answer(as_objects=as_objects, max_tokens=max_tokens)
    if isinstance(answer, Reading):
        return answer.answer(as_objects=as_objects, max_tokens=max_tokens)
    formatted: dict[str, Any] = fit(with_rows(answer, as_objects=as_objects), max_tokens)
    return formatted


def as_text(answer: Mapping[str, Any]) -> str:
    """Compact JSON, as a model reads it."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
