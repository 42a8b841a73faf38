"""What a signed-in person does: types the code of a program, sees who asks, approves or refuses."""

from collections.abc import Iterable, Mapping

from django.contrib.auth.models import User

from ctxhub.core.accounts.access_tokens import clean_scopes, digests_of
from ctxhub.core.accounts.config import config_of
from ctxhub.core.accounts.own_tokens import check_own_agent, offered_name, own_scopes
from ctxhub.core.accounts.sign_in import clear_failures, count_attempt, refuse_after_failure
from ctxhub.core.enrolment.asking import LETTERS
from ctxhub.core.enrolment.grants import Grant
from ctxhub.core.enrolment.models import Enrolment
from ctxhub.core.events.log import Change, record
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import Conflict, InvalidInput, NotAllowed, NotFound
from ctxhub.core.kit.inputs import clean_agent
from ctxhub.core.kit.transactions import touch_transaction, write_transaction
from ctxhub.core.vocabulary.names import register_agent

GUESSES = 10
DAYS = (7, 30, 90, 365)
UNKNOWN = "No program waits with this code. Compare it with what the program shows; it lasts ten minutes."


def find_waiting(user_code: str, *, by: User, address: str) -> Enrolment:
    """The enrolment that waits with a code.

    Raises NotFound, and LimitReached after ten wrong ones from an address or of a person.
    """
    guesses = [("enrolment", address), (f"enrolment by user {by.pk}", "")]
    for name, place in guesses:
        count_attempt(name=name, address=place, is_known=True, free=GUESSES)
    row = Enrolment.objects.filter(user_digest__in=digests_of(read_user_code(user_code))).first()
    if row is None or not row.is_open:
        for name, place in guesses:
            refuse_after_failure(name=name, address=place, is_known=True)
        raise NotFound(UNKNOWN)
    for name, place in guesses:
        clear_failures(name=name, address=place)
    return row


def read_user_code(text: str) -> str:
    """As it was typed: in small letters, with spaces or other signs between them. "" for no code."""
    letters = "".join(sign for sign in text[:100].upper() if sign.isalnum())
    return letters if len(letters) == 8 and set(letters) <= set(LETTERS) else ""


def approve(
    row: Enrolment,
    *,
    caller: Caller,
    owner: User,
    agents: Mapping[str, str],
    scopes: Iterable[str],
    days: int = 90,
    renews: bool = True,
) -> None:
    """Let the program fetch a token for each of its clients, of the person's own, in the caller's project.

    `agents`: the name of a client's agent; where it is empty, one that nobody has. Raises InvalidInput,
    NotAllowed where the project has switched it off or the role allows less, Conflict for an agent of others
    and for what is not open any more.
    """
    if days not in DAYS:
        raise InvalidInput(f"days: one of {', '.join(map(str, DAYS))}.")
    with write_transaction(caller.project_id):
        if not config_of(caller.project_id).enrolment:
            raise NotAllowed(
                f"{caller.project} takes no programs in by codes.",
                hint="An administrator of the project can switch it on in its settings.",
            )
        grant = Grant(
            _named(row, caller, owner, agents), tuple(own_scopes(caller, clean_scopes(scopes))), days, renews
        )
        _decide(
            row,
            state=Enrolment.State.APPROVED,
            project=caller.project,
            decided_by=owner,
            grant=grant.stored(),
        )
        at = clock.now()
        data = {
            "clients": row.clients,
            "host": row.host,
            "agents": list(grant.agents.values()),
            "scopes": list(grant.scopes),
        }
        record(
            project_id=caller.project_id,
            agent_id=register_agent(caller, at),
            changes=[
                Change("hub", "approved", f"enrolment:{row.pk}", data),
            ],
            at=at,
        )


def refuse(row: Enrolment, *, by: User) -> None:
    """Let the program know that it gets nothing. Raises Conflict for what is not open any more."""
    with touch_transaction():
        _decide(row, state=Enrolment.State.REFUSED, decided_by=by)


def _decide(row: Enrolment, **values: object) -> None:
    """Of two decisions at once, one counts."""
    waiting = Enrolment.objects.filter(pk=row.pk, state=Enrolment.State.WAITING, expires_at__gt=clock.now())
    if not waiting.update(**values):
        raise Conflict("This was decided already, or its ten minutes are over. Let the program begin again.")


def short_name(client: str) -> str:
    """As its hooks call it: claude for claude-code."""
    return client.removesuffix("-code").removesuffix("-cli")


def _named(row: Enrolment, caller: Caller, owner: User, agents: Mapping[str, str]) -> dict[str, str]:
    """A name for each client's agent. Raises Conflict where two have the same, or others speak as it."""
    found: dict[str, str] = {}
    for client in row.clients:
        given = agents.get(client, "").strip()
        name = clean_agent(given) if given else offered_name(caller.project_id, owner, short_name(client))
        if name.casefold() in {other.casefold() for other in found.values()}:
            raise Conflict(f"Two clients cannot both be {name!r}: each has an agent of its own.")
        check_own_agent(caller.project, owner, name)
        found[client] = name
    return found
