"""Members' own tokens, and rotation: who may make which, what they may do, and when they end."""

from collections.abc import Callable
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ctxhub.core.accounts.access_tokens import (
    NewToken,
    authenticate,
    create_token,
    forget_tokens,
    revoke_token,
)
from ctxhub.core.accounts.own_tokens import (
    MOST_USABLE,
    clean_grace,
    create_own_token,
    offered_name,
    rotate_token,
)
from ctxhub.core.accounts.people import find_person
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import (
    Conflict,
    CtxhubError,
    InvalidInput,
    LimitReached,
    NotAllowed,
    Unauthenticated,
)
from ctxhub.core.models import AccessToken, Agent, Membership, Project
from sessions.nudges.services import nudge
from tests.people import ADMIN, MEMBER, VIEWER, person
from tests.timing import PATIENCE_SECONDS

READ, WRITE = frozenset({"read"}), frozenset({"read", "write"})


@pytest.fixture
def grace(apollo: Project) -> User:
    return person("grace", apollo)


def own(user: User, project: Project, agent: str = "grace-claude", **fields: Any) -> NewToken:
    caller = find_person(user, project.slug)
    assert caller
    return create_own_token(caller=caller, owner=user, agent=agent, **fields)


# -- A member's own --------------------------------------------------------------------------------


def test_it_is_pinned_expires_in_90_days_and_reads_and_writes(apollo: Project, grace: User) -> None:
    new = own(grace, apollo)
    caller = authenticate(new.secret)
    assert (caller.agent, caller.pinned, caller.scopes) == ("grace-claude", True, WRITE)
    assert not caller.is_person
    assert new.row.expires_at
    assert (new.row.expires_at - clock.now()).days in (89, 90)
    assert (new.row.owner, new.row.created_by) == (grace, grace)


@pytest.mark.parametrize(
    ("role", "given", "allowed"),
    [
        (VIEWER, None, ["read"]),
        (MEMBER, None, ["read", "write"]),
        (ADMIN, None, ["read", "write"]),
        (ADMIN, ["admin"], ["admin"]),
        (MEMBER, ["read"], ["read"]),
        (VIEWER, ["write"], None),
        (VIEWER, ["read", "admin"], None),
        (MEMBER, ["admin"], None),
    ],
)
def test_its_scopes_are_within_the_role(
    role: Membership.Role, given: list[str] | None, allowed: list[str] | None, apollo: Project
) -> None:
    user = person("vi", apollo, role)
    if allowed is None:
        with pytest.raises(NotAllowed, match="Your role does not allow"):
            own(user, apollo, "vi-claude", scopes=given)
        assert not AccessToken.unscoped.exists()
    else:
        assert own(user, apollo, "vi-claude", scopes=given).row.scopes == allowed


@pytest.mark.parametrize("days", [366, 10_000, -1])
def test_it_lasts_a_year_at_most(days: int, apollo: Project, grace: User) -> None:
    with pytest.raises(InvalidInput, match="expires_at"):
        own(grace, apollo, expires_at=clock.now() + timedelta(days=days))


def test_it_speaks_for_no_person(apollo: Project, grace: User) -> None:
    person("hedy", apollo)
    for name in ("grace", "Grace", "hedy"):
        with pytest.raises(NotAllowed, match="name of a person"):
            own(grace, apollo, name)


def test_it_speaks_for_no_agent_of_others(ada: Caller, apollo: Project, grace: User) -> None:
    hedy = person("hedy", apollo)
    create_token(project=apollo, agent="ci")
    Agent.objects.create(project=apollo, name="codex", folded="codex")
    own(hedy, apollo, "hedy-claude")
    for name in ("ci", "CODEX", "hedy-claude"):
        with pytest.raises(Conflict, match=r"not yours alone.*'grace-"):
            own(grace, apollo, name)


def test_an_agent_of_ones_own_has_several(apollo: Project, grace: User) -> None:
    revoke_token(own(grace, apollo).row)
    own(grace, apollo)
    own(grace, apollo, "Grace-Claude")
    create_token(project=apollo, agent="grace-claude")
    with pytest.raises(Conflict):
        own(grace, apollo)


def test_a_name_is_offered_that_is_free(apollo: Project, grace: User) -> None:
    assert offered_name(apollo.pk, grace, "claude") == "grace-claude"
    own(grace, apollo)
    assert offered_name(apollo.pk, grace, "claude") == "grace-claude-2"
    assert len(offered_name(apollo.pk, User(username="g" * 150), "c" * 300)) <= 100


def test_there_are_not_more_than_50(apollo: Project, grace: User) -> None:
    for number in range(MOST_USABLE):
        last = own(grace, apollo, f"grace-{number}")
    with pytest.raises(LimitReached):
        own(grace, apollo, "grace-more")
    revoke_token(last.row)
    own(grace, apollo, "grace-more")


# -- What the role no longer allows ----------------------------------------------------------------


def demote(user: User) -> None:
    membership = Membership.objects.get(user=user)
    membership.role = VIEWER
    membership.save()


def remove(user: User) -> None:
    Membership.objects.get(user=user).delete()


def deactivate(user: User) -> None:
    user.is_active = False
    user.save()


def test_a_demoted_members_token_reads_at_once(apollo: Project, grace: User) -> None:
    secret = own(grace, apollo).secret
    assert authenticate(secret).scopes == WRITE
    demote(grace)
    assert authenticate(secret).scopes == READ


@pytest.mark.parametrize("end", [remove, deactivate])
def test_a_removed_members_token_ends_at_once(
    end: Callable[[User], None], apollo: Project, grace: User
) -> None:
    secret, of_project = own(grace, apollo).secret, create_token(project=apollo, created_by=grace).secret
    authenticate(secret)
    end(grace)
    with pytest.raises(Unauthenticated, match="grace, whose token it is, is no member"):
        authenticate(secret)
    authenticate(of_project)


def test_a_deleted_account_leaves_no_token(apollo: Project, grace: User) -> None:
    secret = own(grace, apollo).secret
    authenticate(secret)
    grace.delete()
    with pytest.raises(Unauthenticated, match="not known"):
        authenticate(secret)


def test_a_superusers_token_needs_no_membership(apollo: Project) -> None:
    root = User.objects.create_superuser("root")
    secret = own(root, apollo, "root-claude").secret
    assert authenticate(secret).scopes == WRITE
    root.is_superuser = False
    root.save()
    with pytest.raises(Unauthenticated):
        authenticate(secret)


def test_a_role_costs_no_query_of_its_own(apollo: Project, grace: User) -> None:
    secrets = own(grace, apollo).secret, create_token(project=apollo).secret
    counts = []
    for secret in secrets:
        authenticate(secret)
        forget_tokens()
        with CaptureQueriesContext(connection) as queries:
            authenticate(secret)
        counts.append(len(queries))
    assert counts[0] == counts[1] == 1


# -- Rotation --------------------------------------------------------------------------------------


def test_both_are_good_for_the_grace(apollo: Project, grace: User) -> None:
    with time_machine.travel("2026-11-26T12:00:00Z", tick=False) as time:
        old = own(grace, apollo, expires_at=clock.now() + timedelta(days=30))
        time.shift(timedelta(days=20))
        new = rotate_token(old.row, by=grace)
        assert {authenticate(each.secret).agent for each in (old, new)} == {"grace-claude"}
        assert new.row.expires_at == clock.now() + timedelta(days=30)
        assert (new.row.owner, new.row.scopes, new.row.name) == (grace, ["read", "write"], "grace-claude")
        time.shift(timedelta(hours=24, seconds=1))
        forget_tokens()
        authenticate(new.secret)
        with pytest.raises(Unauthenticated, match="expired"):
            authenticate(old.secret)


def test_without_grace_the_old_one_ends_at_once(apollo: Project) -> None:
    old = create_token(project=apollo)
    authenticate(old.secret)
    new = rotate_token(old.row, grace=timedelta(0))
    assert new.row.expires_at is None
    authenticate(new.secret)
    with pytest.raises(Unauthenticated, match="revoked"):
        authenticate(old.secret)


def test_a_token_that_ends_earlier_is_not_lengthened(apollo: Project) -> None:
    old = create_token(project=apollo, expires_at=clock.now() + timedelta(hours=1))
    rotate_token(old.row)
    ends_at = AccessToken.unscoped.get(pk=old.row.pk).expires_at
    assert ends_at == old.row.expires_at


def revoked(token: NewToken) -> None:
    revoke_token(token.row)


def expired(token: NewToken) -> None:
    AccessToken.unscoped.filter(pk=token.row.pk).update(expires_at=clock.now())


def rotated(token: NewToken) -> None:
    rotate_token(token.row)


@pytest.mark.parametrize(
    ("end", "why"), [(revoked, "was revoked"), (expired, "has expired"), (rotated, "was rotated before")]
)
def test_what_has_ended_is_not_rotated(end: Callable[[NewToken], None], why: str, apollo: Project) -> None:
    token = create_token(project=apollo)
    end(token)
    before = AccessToken.unscoped.count()
    with pytest.raises(Conflict, match=why):
        rotate_token(token.row)
    assert AccessToken.unscoped.count() == before


@pytest.mark.parametrize("text", ["", "soon", "-1h", "24", "1y", "31d", "99999999h", "9999999w"])
def test_a_grace_that_is_none_is_refused(text: str, apollo: Project) -> None:
    row = create_token(project=apollo).row
    with pytest.raises(InvalidInput, match="grace"):
        rotate_token(row, grace=clean_grace(text))


@pytest.mark.parametrize(
    ("text", "hours"), [("0", 0), ("0h", 0), ("90m", 1.5), (" 24h ", 24), ("7d", 168), ("30d", 720)]
)
def test_a_grace_is_a_length_of_time(text: str, hours: float) -> None:
    assert clean_grace(text) == timedelta(hours=hours)


def test_a_token_with_the_name_of_a_person_needs_another_when_it_is_rotated(apollo: Project) -> None:
    old = create_token(project=apollo, agent="grace")
    Membership.objects.bulk_create([Membership(project=apollo, user=User.objects.create_user("grace"))])
    assert authenticate(old.secret).agent == "grace"
    with pytest.raises(NotAllowed, match="'grace-agent'"):
        rotate_token(old.row)
    new = rotate_token(old.row, agent="grace-agent", grace=timedelta(0))
    assert authenticate(new.secret).agent == "grace-agent"


def test_ones_own_is_rotated_to_an_agent_of_ones_own(apollo: Project, grace: User) -> None:
    create_token(project=apollo, agent="ci")
    old = own(grace, apollo)
    with pytest.raises(Conflict, match="not yours alone"):
        rotate_token(old.row, agent="ci")
    assert rotate_token(old.row, agent="grace-codex").row.agent.name == "grace-codex"  # type: ignore[union-attr]


# -- Two at once -----------------------------------------------------------------------------------


def at_once(*acts: Callable[[], object]) -> list[CtxhubError]:
    """Run them in threads that begin together; returns what was refused."""
    met, refused = Barrier(len(acts)), []

    def run(act: Callable[[], object]) -> None:
        met.wait(PATIENCE_SECONDS)
        try:
            act()
        except CtxhubError as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [Thread(target=run, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    return refused


@pytest.mark.django_db(transaction=True)
def test_of_two_rotations_at_once_one_succeeds(apollo: Project) -> None:
    row = create_token(project=apollo).row
    refused = at_once(lambda: rotate_token(row), lambda: rotate_token(AccessToken.unscoped.get(pk=row.pk)))
    assert [type(error) for error in refused] == [Conflict]
    assert AccessToken.unscoped.count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_members_at_once_one_gets_a_new_agent(apollo: Project) -> None:
    users = [person(name, apollo) for name in ("grace", "hedy")]
    refused = at_once(*(lambda user=user: own(user, apollo, "claude") for user in users))
    assert [type(error) for error in refused] == [Conflict]
    assert AccessToken.unscoped.count() == 1


# -- Before the end --------------------------------------------------------------------------------


def test_the_agent_hears_it_once_a_week_before(apollo: Project, grace: User) -> None:
    with time_machine.travel("2026-11-26T12:00:00Z", tick=False) as time:
        secret = own(grace, apollo, expires_at=clock.now() + timedelta(days=30)).secret
        time.shift(timedelta(days=22))
        assert nudge(caller=authenticate(secret))["text"] == ""
        time.shift(timedelta(days=2))
        forget_tokens()
        caller = authenticate(secret)
        assert "Your access token expires on 2026-12-26" in nudge(caller=caller)["text"]
        assert nudge(caller=caller)["text"] == ""
