"""Who holds an event stream open: a token, or a person with a session; and whether they still may."""

from collections.abc import Collection, Iterable, Mapping

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User

from ctxhub.core.accounts.access_tokens import callers_now
from ctxhub.core.accounts.people import SCOPES_OF_ROLE, is_superuser
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ALL_SCOPES, Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.models import Membership

Scopes = frozenset[tuple[int, frozenset[str]]]
"""The scopes of a person in projects, by project id."""


@frozen
class Listener:
    """As they were when the stream was opened. `token`: the caller of a token, else a person with a session.

    `password`: the hash that Django ends sessions by when the password changes.
    """

    token: Caller | None = None
    user_id: int = 0
    session_key: str = ""
    password: str = ""
    scopes: Scopes = frozenset()

    @property
    def counted_as(self) -> str:
        """Whose streams are counted together."""
        return f"token {self.token.token_id}" if self.token else f"user {self.user_id}"


def person_listening(
    user: AbstractBaseUser | AnonymousUser, session_key: str, scopes: Mapping[int, frozenset[str]]
) -> Listener:
    """A signed-in person who may do this in these projects."""
    assert isinstance(user, AbstractBaseUser)
    return Listener(None, user.pk, session_key, user.get_session_auth_hash(), frozenset(scopes.items()))


def still_listening(listeners: Collection[Listener]) -> set[Listener]:
    """Those whose rights are as they were: at most four queries, however many there are."""
    tokens = [each.token for each in listeners if each.token]
    people = [each for each in listeners if not each.token]
    callers = callers_now({token.token_id or 0 for token in tokens}) if tokens else {}
    return {
        *(each for each in listeners if each.token and callers.get(each.token.token_id or 0) == each.token),
        *(_people_as_they_were(people) if people else ()),
    }


def _people_as_they_were(people: Collection[Listener]) -> Iterable[Listener]:
    from django.contrib.sessions.models import Session  # An app that only a process with pages has.

    users = {user.pk: user for user in User.objects.filter(pk__in={each.user_id for each in people})}
    sessions = Session.objects.filter(expire_date__gt=clock.now())
    keys = set(
        sessions.filter(session_key__in={each.session_key for each in people}).values_list(
            "session_key", flat=True
        )
    )
    roles = {
        (each.user_id, each.project_id): SCOPES_OF_ROLE[Membership.Role(each.role)]
        for each in Membership.objects.filter(user__in=users)
    }
    for person in people:
        user = users.get(person.user_id)
        if user is None or not user.is_active or person.session_key not in keys:
            continue
        if user.get_session_auth_hash() == person.password and all(
            scopes == (ALL_SCOPES if is_superuser(user) else roles.get((user.pk, project_id)))
            for project_id, scopes in person.scopes
        ):
            yield person
