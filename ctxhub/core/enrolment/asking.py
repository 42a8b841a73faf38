"""What a program asks: for codes at first, then whether somebody has decided."""

import secrets
from collections.abc import Sequence
from datetime import timedelta

from ctxhub.core.accounts.access_tokens import NewToken, Origin, digest_of, digests_of
from ctxhub.core.accounts.own_tokens import create_own_token
from ctxhub.core.accounts.people import find_person
from ctxhub.core.accounts.sign_in import ADDRESS_CHARACTERS
from ctxhub.core.enrolment.errors import Denied, Ended, Pending, TooFast
from ctxhub.core.enrolment.grants import Grant
from ctxhub.core.enrolment.models import Enrolment
from ctxhub.core.kit import clock
from ctxhub.core.kit.errors import CtxhubError, InvalidInput, LimitReached
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.inputs import WORD_LENGTH, clean_agent, clean_new_name
from ctxhub.core.kit.transactions import acquire_write_lock, touch_transaction, write_transaction

LASTS = timedelta(minutes=10)
INTERVAL = 3
SLOWER = 5
LONGEST_INTERVAL = 60
MOST_OPEN_OF_ADDRESS = 5
MOST_OPEN = 1_000
MOST_CLIENTS = 10
REMEMBERED_FOR = timedelta(days=1)
# No vowels, which make words, and none that look alike: 25.6 thousand million codes.
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
NO_PROJECT = 0


@frozen
class Codes:
    """A new enrolment: its row, and the codes, which are not stored."""

    row: Enrolment
    device_code: str
    user_code: str


def begin(
    *, clients: Sequence[str], agent: str = "", host: str = "", user: str = "", address: str = ""
) -> Codes:
    """Begin an enrolment. Raises InvalidInput, and LimitReached for a sixth that is open from an address."""
    if not 0 < len(clients) <= MOST_CLIENTS:
        raise InvalidInput(f"client: name one, or a list of up to {MOST_CLIENTS}.")
    names = list(dict.fromkeys(clean_new_name(each, "client", at_most=WORD_LENGTH) for each in clients))
    said = {
        "agent": clean_agent(agent) if agent else "",
        "host": clean_new_name(host, "host", at_most=WORD_LENGTH) if host else "",
        "user": clean_new_name(user, "user", at_most=WORD_LENGTH) if user else "",
    }
    now, device_code, user_code = clock.now(), secrets.token_urlsafe(32), new_user_code()
    with touch_transaction():
        acquire_write_lock(NO_PROJECT)
        Enrolment.objects.filter(expires_at__lt=now - REMEMBERED_FOR).delete()
        _refuse_too_many(address[:ADDRESS_CHARACTERS])
        row = Enrolment.objects.create(
            **said,
            clients=names,
            device_digest=digest_of(device_code),
            user_digest=digest_of(user_code),
            address=address[:ADDRESS_CHARACTERS],
            interval=INTERVAL,
            created_at=now,
            expires_at=now + LASTS,
        )
    return Codes(row, device_code, f"{user_code[:4]}-{user_code[4:]}")


def new_user_code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(8))


def _refuse_too_many(address: str) -> None:
    still_open = Enrolment.objects.filter(state=Enrolment.State.WAITING, expires_at__gt=clock.now())
    own = still_open.filter(address=address).count()
    if own >= MOST_OPEN_OF_ADDRESS or still_open.count() >= MOST_OPEN:
        raise LimitReached(
            f"{MOST_OPEN_OF_ADDRESS} programs at this address wait for somebody to type their codes."
            if own >= MOST_OPEN_OF_ADDRESS
            else "Too many programs wait for somebody to type their codes.",
            hint="Type one of the codes, or wait for ten minutes.",
            retry_after=int(LASTS.total_seconds()),
        )


def fetch(device_code: str) -> tuple[Enrolment, list[NewToken]]:
    """The tokens that were approved, once: one for each client, in their order.

    Raises Pending, TooFast, Denied and Ended, as RFC 8628 has them.
    """
    row = _asked(device_code)
    if row.state != Enrolment.State.APPROVED:
        raise Denied("Somebody has refused it.") if row.state == Enrolment.State.REFUSED else Pending()
    assert row.project
    assert row.decided_by
    grant = Grant.of(row.grant)
    with write_transaction(row.project.pk):
        waiting = Enrolment.objects.filter(pk=row.pk, state=Enrolment.State.APPROVED)
        if not waiting.update(state=Enrolment.State.FETCHED):
            raise Ended
        owner = find_person(row.decided_by, row.project.slug)
        if owner is None or not row.decided_by.is_active:
            raise Denied("Whoever has approved it is no member of the project any more.")
        try:
            made = [
                create_own_token(
                    caller=owner,
                    owner=row.decided_by,
                    agent=grant.agents[client],
                    scopes=grant.scopes,
                    expires_at=clock.now() + timedelta(days=grant.days),
                    origin=Origin(client, row.host, grant.renews),
                )
                for client in row.clients
            ]
        except CtxhubError as error:
            raise Denied(error.message) from error
    return row, made


def _asked(device_code: str) -> Enrolment:
    """The row of a program, which is noted to have asked."""
    now = clock.now()
    with touch_transaction():
        acquire_write_lock(NO_PROJECT)
        rows = Enrolment.objects.select_for_update(of=("self",)).select_related("project", "decided_by")
        row = rows.filter(device_digest__in=digests_of(device_code)).first()
        if row is None or row.state == Enrolment.State.FETCHED or row.expires_at <= now:
            raise Ended
        is_fast = row.asked_at is not None and now < row.asked_at + timedelta(seconds=row.interval)
        row.asked_at = now
        if is_fast:
            row.interval = min(row.interval + SLOWER, LONGEST_INTERVAL)
        row.save(update_fields=["asked_at", "interval"])
    if is_fast:
        raise TooFast(row.interval)
    return row
