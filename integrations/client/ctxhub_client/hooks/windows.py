"""A window from its start over its prompts to its end."""

from __future__ import annotations

from ctxhub_client.hooks.event import context, specific
from ctxhub_client.settings import stored_token
from ctxhub_client.texts import cut_at_line
from ctxhub_client.values import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.hooks.event import Event
    from ctxhub_client.values import Json

# Why a session ends or starts while its window stays; the next one begins within this time.
GOING_ON = ("clear", "resume")

BRIEF_TOKENS = 1_500

NUDGE_CHARACTERS = 1_000


def start_session(event: Event) -> Json | None:
    from ctxhub_client.shell.claims import forget_old

    event.forget_checks()
    forget_old()
    tell_bridge(event)
    if event.hub.problem:
        told = "ctxhub: " + event.hub.problem
        return dict(specific(event, additionalContext=told), systemMessage=told)
    renew(event)
    begin(event)
    from ctxhub_client.hooks.notices import token_notice, version_notice

    answer = context(event, event.hub.get_text("brief/", budget_tokens=BRIEF_TOKENS))
    if told := token_notice(event.hub):
        return dict(specific(event, additionalContext=told), systemMessage=told)
    # The person's to do, not the model's.
    told = version_notice(event.hub)
    return dict(answer or {}, systemMessage=told) if told else answer


def renew(event: Event) -> None:
    """Once a day. This run goes on with the old token, which stays good for days."""
    if stored_token() is not None and event.hub.store.is_due("renewal-" + event.hub.file):
        from ctxhub_client.access.renewing import renew_stored

        renew_stored()


def tell_bridge(event: Event) -> None:
    """Let what the model asks the hub in this window be of the same session."""
    from ctxhub_client.windows.joining import begin_session

    begin_session(event.window, goes_on=text_of(event.values, "source") not in ("", "startup"))


def begin(event: Event) -> None:
    """Tell the hub of the session, and which one it goes on from: what that held is its own now."""
    if not event.window:
        return
    before = event.session_before() if text_of(event.values, "source") in GOING_ON else ""
    pass_on(event, before if before != event.window and before else event.untold())


def pass_on(event: Event, before: str) -> None:
    event.hub.post("sessions/begin/", {"continues": before} if before else {})
    is_told = 0 < event.hub.status < 500
    event.keep_untold("" if is_told else before)


def submit_prompt(event: Event) -> Json | None:
    from ctxhub_client.hooks.commands import begin_turn

    begin_turn(event)
    if before := event.untold():
        pass_on(event, before)
    text = event.hub.get_text("nudge/")
    return context(event, cut_at_line(text, NUDGE_CHARACTERS))


def end_session(event: Event) -> None:
    if text_of(event.values, "reason") in GOING_ON:
        event.go_on_later()
    else:
        from ctxhub_client.windows import joining

        joining.end_session(event.window)
        event.hub.post("leases/release/", {"all": True})
    from ctxhub_client.hooks.conversations import save_conversation

    save_conversation(event)


def end_subagent(event: Event) -> None:
    """What a subagent held is free when it stops."""
    if event.session != event.window:
        event.hub.post("leases/release/", {"all": True})
