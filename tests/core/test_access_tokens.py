"""Access tokens: shown once, stored as a digest, refused with a message that says what to fix."""

import hashlib
import hmac
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from ctxhub.core.accounts import access_tokens
from ctxhub.core.accounts.access_tokens import authenticate, create_token, forget_tokens, revoke_token
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.errors import InvalidInput, LimitReached, NotAllowed, Unauthenticated
from ctxhub.core.models import AccessToken, Agent, Project
from ctxhub.toolbox import rates


def test_a_token_authenticates_as_its_project_agent_and_scopes(apollo: Project) -> None:
    caller = authenticate(create_token(project=apollo, agent="ada", scopes=["Write", " read "]).secret)
    assert (caller.project, caller.agent, set(caller.scopes)) == (apollo, "ada", {"read", "write"})
    assert (caller.pinned, caller.keeps_secrets, caller.is_person) == (True, False, False)


def test_a_token_without_an_agent_acts_under_its_own_name(apollo: Project) -> None:
    caller = authenticate(create_token(project=apollo, name="laptop", scopes=["admin"]).secret)
    assert (caller.agent, caller.pinned, caller.keeps_secrets) == ("laptop", False, True)
    assert not Agent.objects.in_project(apollo).exists()


def test_the_secret_is_not_stored_in_the_database(apollo: Project, settings: Settings) -> None:
    token = create_token(project=apollo)
    values = AccessToken.objects.in_project(apollo).values().get()
    assert token.secret not in str(values)
    assert values["start"] == token.secret[:10]
    key = settings.SECRET_KEY.encode()
    assert values["digest"] == hmac.new(key, token.secret.encode(), hashlib.sha256).hexdigest()


def test_secrets_are_long_and_unique(apollo: Project) -> None:
    secrets = {create_token(project=apollo).secret for _ in range(20)}
    assert len(secrets) == 20
    assert all(secret.startswith("ctx_") and len(secret) == 44 for secret in secrets)


@pytest.mark.parametrize("scopes", [[], ["reed"], ["read", ""], ["all"]])
def test_scopes_must_be_known(apollo: Project, scopes: list[str]) -> None:
    with pytest.raises(InvalidInput):
        create_token(project=apollo, scopes=scopes)


def test_an_expiry_in_the_past_is_refused(apollo: Project) -> None:
    with pytest.raises(InvalidInput):
        create_token(project=apollo, expires_at=clock.now() - timedelta(seconds=1))


# -- Refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", ["", "x", "ctx_unknown", "${TOKEN}", "\ud800", "ctx_\x00", "é" * 10_000])
def test_an_unknown_token_is_refused(apollo: Project, secret: str) -> None:
    with pytest.raises(Unauthenticated):
        authenticate(secret)


def test_a_token_expires(apollo: Project) -> None:
    token = create_token(project=apollo, expires_at=clock.now() + timedelta(hours=1))
    authenticate(token.secret)
    with time_machine.travel(clock.now() + timedelta(hours=1, seconds=1)):
        forget_tokens()
        with pytest.raises(Unauthenticated, match="expired"):
            authenticate(token.secret)


def test_a_verified_token_is_not_cached_past_its_expiry(apollo: Project) -> None:
    token = create_token(project=apollo, expires_at=clock.now() + timedelta(seconds=4))
    authenticate(token.secret)
    [(remembered_until, _)] = access_tokens._verified.values()
    assert remembered_until - time.monotonic() <= 4


def test_a_revoked_token_is_refused_at_once(apollo: Project) -> None:
    token = create_token(project=apollo)
    authenticate(token.secret)
    revoke_token(token.row)
    with pytest.raises(Unauthenticated, match="revoked"):
        authenticate(token.secret)


def test_revoking_twice_keeps_the_first_time(apollo: Project) -> None:
    token = create_token(project=apollo).row
    first = revoke_token(token).revoked_at
    assert revoke_token(token).revoked_at == first


def test_a_token_is_hidden_from_another_project(apollo: Project, hermes: Project) -> None:
    create_token(project=apollo)
    assert not AccessToken.objects.in_project(hermes).exists()


def test_deleting_a_project_deletes_its_tokens(apollo: Project) -> None:
    token = create_token(project=apollo, agent="ada")
    authenticate(token.secret)
    apollo.delete()
    with pytest.raises(Unauthenticated):
        authenticate(token.secret)


# -- The cache of verified tokens ------------------------------------------------------------------


def test_a_verified_token_is_not_looked_up_again(apollo: Project) -> None:
    token = create_token(project=apollo)
    authenticate(token.secret)
    with CaptureQueriesContext(connection) as captured:
        authenticate(token.secret)
    assert len(captured) == 0


CHANGES: dict[str, Callable[[AccessToken], object]] = {
    "saved": lambda row: row.save(),
    "deleted": lambda row: row.delete(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_saved_or_deleted_token_leaves_the_cache_at_once(apollo: Project, change: str) -> None:
    token = create_token(project=apollo)
    authenticate(token.secret)
    CHANGES[change](token.row)
    with CaptureQueriesContext(connection) as captured:
        try:
            authenticate(token.secret)
        except Unauthenticated:
            assert change == "deleted"
    assert len(captured) > 0


def test_the_last_use_is_stored_once_a_minute(apollo: Project) -> None:
    token = create_token(project=apollo)
    uses = set()
    start = clock.now()
    for seconds in (0, 30, 61, 90, 130):
        with time_machine.travel(start + timedelta(seconds=seconds), tick=False):
            forget_tokens()
            authenticate(token.secret)
            token.row.refresh_from_db()
            uses.add(token.row.last_used_at)
    assert sorted((use - start).seconds for use in uses if use) == [0, 61, 130]


def test_a_token_of_a_fallback_secret_key_still_works(apollo: Project, settings: Settings) -> None:
    token = create_token(project=apollo)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, for tests only, 0123456789-abcdefghij"
    assert authenticate(token.secret).project == apollo
    settings.SECRET_KEY_FALLBACKS = []
    forget_tokens()
    with pytest.raises(Unauthenticated):
        authenticate(token.secret)


@pytest.mark.one_engine
def test_the_rate_limit_says_when_to_retry(apollo: Project, settings: Settings) -> None:
    settings.RATE_LIMIT = 3
    rates._windows.clear()
    token, other = create_token(project=apollo), create_token(project=apollo)
    for _ in range(3):
        authenticate(token.secret)
    with pytest.raises(LimitReached) as refused:
        authenticate(token.secret)
    assert 1 <= refused.value.details["retry_after"] <= 60
    authenticate(other.secret)


# -- Agents and scopes -----------------------------------------------------------------------------


def test_a_pinned_caller_acts_as_its_agent_in_any_case(apollo: Project) -> None:
    caller = Caller(project=apollo, agent="ada", pinned=True)
    assert caller.speaking_as("ADA") is caller
    with pytest.raises(NotAllowed, match="ben"):
        caller.speaking_as("ben")


def test_a_person_cannot_act_as_another_agent(apollo: Project) -> None:
    with pytest.raises(NotAllowed):
        Caller(project=apollo, agent="eve", is_person=True).speaking_as("ada")


def test_the_missing_scope_is_named(apollo: Project) -> None:
    reader = Caller(project=apollo, agent="ada", scopes=frozenset({"read"}))
    with pytest.raises(NotAllowed, match=r"decision\.set needs the scope 'write'; yours: read"):
        reader.require("write", "decision.set")
