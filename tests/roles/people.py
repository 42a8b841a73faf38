"""Everybody who may ask: nobody, strangers, people by role and tokens by scope, of the project apollo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from ctxhub.core.accounts.access_tokens import NewToken, create_token, revoke_token
from ctxhub.core.accounts.own_tokens import create_own_token
from ctxhub.core.accounts.people import SCOPES_OF_ROLE, find_person
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import ADMIN, ALL_SCOPES, READ, WRITE
from ctxhub.core.models import AccessToken, Membership, Project
from tests.people import person

Role = Membership.Role


@dataclass(frozen=True, kw_only=True)
class Asker:
    """`scopes`: in apollo; None: the hub does not know who it is. A stranger is known, and has none there.

    `token` is sent as a bearer token, `user` is signed in. `agent`: whom a call names, so that ada speaks.
    `is_ada`: ada speaks, whose the objects of apollo are. `is_staff`: may sign in to the admin.
    """

    name: str
    scopes: frozenset[str] | None
    token: str = ""
    user: User | None = None
    is_stranger: bool = False
    is_superuser: bool = False
    is_staff: bool = False
    agent: str = ""
    is_ada: bool = False
    session: str = ""
    client: Client = field(default_factory=Client, compare=False)

    def __str__(self) -> str:
        return self.name

    @property
    def is_known(self) -> bool:
        return self.scopes is not None

    def may(self, scope: str) -> bool:
        return scope in (self.scopes or ())

    def browser(self) -> Client:
        """With no cookie but that of the session: what a request set was rolled back with it."""
        self.client.cookies.clear()
        if self.session:
            self.client.cookies[settings.SESSION_COOKIE_NAME] = self.session
        return self.client

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


def tokens(apollo: Project, hermes: Project) -> Sequence[Asker]:
    """Tokens of every kind."""
    scoped = [[READ], [WRITE], [ADMIN], [READ, WRITE], [READ, WRITE, ADMIN]]
    return [
        Asker(name="an unknown token", scopes=None, token="ctx_unknown"),
        Asker(name="an expired token", scopes=None, token=_expired(create_token(project=apollo))),
        Asker(name="a revoked token", scopes=None, token=_revoked(create_token(project=apollo))),
        Asker(name="a token of a former member", scopes=None, token=_own_of_a_former_member(apollo)),
        _token("a token of another project", hermes, [READ, WRITE, ADMIN], is_stranger=True),
        *(_token(f"a token with {' and '.join(scopes)}", apollo, scopes) for scopes in scoped),
        Asker(
            name="a token pinned to ada",
            scopes=frozenset({READ, WRITE}),
            token=create_token(project=apollo, agent="ada").secret,
            is_ada=True,
        ),
        Asker(
            name="a token of a member who is a viewer now",
            scopes=SCOPES_OF_ROLE[Role.VIEWER],
            token=_own_of_a_demoted_member(apollo),
        ),
    ]


def people(apollo: Project, hermes: Project) -> Sequence[Asker]:
    """People of every role, each signed in."""
    former = person("fern", apollo, Role.ADMIN)
    signed_in = _person("an inactive account", former, scopes=None)
    User.objects.filter(pk=former.pk).update(is_active=False)
    return [
        Asker(name="nobody", scopes=None),
        signed_in,
        _person("an admin of another project", person("zed", hermes, Role.ADMIN), is_stranger=True),
        _person("a person of no project", User.objects.create_user("noah", is_staff=True), is_stranger=True),
        *(
            _person(f"a person who is {role.label}", person(f"{role.label}-1", apollo, role), role)
            for role in Role
        ),
        _person("a member who is no staff", _no_staff(apollo), Role.MEMBER),
        _person("a superuser", User.objects.create_superuser("root"), scopes=ALL_SCOPES, is_superuser=True),
    ]


def _token(name: str, project: Project, scopes: list[str], *, is_stranger: bool = False) -> Asker:
    made = create_token(project=project, name=name, scopes=scopes)
    allowed = frozenset() if is_stranger else frozenset(scopes)
    return Asker(
        name=name,
        scopes=allowed,
        token=made.secret,
        is_stranger=is_stranger,
        agent="ada",
        is_ada=not is_stranger,
    )


def _person(
    name: str,
    user: User,
    role: Role | None = None,
    *,
    scopes: frozenset[str] | None = frozenset(),
    is_stranger: bool = False,
    is_superuser: bool = False,
) -> Asker:
    client = Client()
    client.force_login(user)
    return Asker(
        name=name,
        scopes=SCOPES_OF_ROLE[role] if role else scopes,
        user=user,
        is_stranger=is_stranger,
        is_superuser=is_superuser,
        is_staff=user.is_staff and scopes is not None,
        session=client.cookies[settings.SESSION_COOKIE_NAME].value,
        client=client,
    )


def _no_staff(project: Project) -> User:
    user = User.objects.create_user("nora")
    Membership.objects.create(project=project, user=user, role=Role.MEMBER)
    return user


def _expired(made: NewToken) -> str:
    ended = clock.now() - timedelta(seconds=1)
    AccessToken.unscoped.filter(pk=made.row.pk).update(expires_at=ended)
    return made.secret


def _revoked(made: NewToken) -> str:
    revoke_token(made.row)
    return made.secret


def _own(project: Project, username: str) -> tuple[User, str]:
    owner = person(username, project, Role.MEMBER)
    caller = find_person(owner, project.slug)
    assert caller
    return owner, create_own_token(caller=caller, owner=owner, agent=f"{username}-claude").secret


def _own_of_a_former_member(project: Project) -> str:
    owner, secret = _own(project, "gus")
    Membership.objects.filter(user=owner).delete()
    return secret


def _own_of_a_demoted_member(project: Project) -> str:
    owner, secret = _own(project, "dot")
    Membership.objects.filter(user=owner).update(role=Role.VIEWER)
    return secret
