"""What programs ask below /connect/ is answered as described, whatever they send: no 5xx, nothing else."""

import os
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance
from schemathesis.specs.openapi.schemas import OpenApiSchema

from ctxhub.core.accounts.access_tokens import Origin, forget_tokens
from ctxhub.core.accounts.own_tokens import create_own_token
from ctxhub.core.accounts.people import find_person
from ctxhub.core.enrolment.asking import begin
from ctxhub.core.enrolment.deciding import approve
from ctxhub.core.enrolment.models import Enrolment
from ctxhub.core.kit import clock
from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import AccessToken, Project
from tests.core.connect_openapi import DOCUMENT
from tests.hub import LiveHub
from tests.people import person

MODES = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
EXAMPLES = 10
# What the document allows and the hub refuses, each with the reason why the document does not forbid it.
REFUSED = {
    r"no character that nobody sees|holds U\+": "the pattern for names would be unreadable",
    r"must not be blank|is missing": "Unicode has more blanks than a pattern",
    r"The code has expired": "a code is one that the hub has given",
}


@pytest.fixture
def grace(apollo: Project) -> User:
    return person("grace", apollo)


@pytest.fixture
def caller(grace: User) -> Caller:
    found = find_person(grace, "apollo")
    assert found
    return found


@pytest.fixture
def api(hub: LiveHub) -> OpenApiSchema:
    loaded = schemathesis.openapi.from_dict(DOCUMENT)
    loaded.config.update(base_url=hub.url)
    return loaded


def a_token(caller: Caller, grace: User) -> str:
    """One of the last weeks of its life, that renews itself."""
    now = clock.now()
    new = create_own_token(
        caller=caller,
        owner=grace,
        agent="grace-codex",
        scopes=["read", "write"],
        expires_at=now + timedelta(days=9),
        origin=Origin("codex", "laptop", renews=True),
    )
    AccessToken.unscoped.filter(pk=new.row.pk).update(created_at=now - timedelta(days=81))
    forget_tokens()
    return new.secret


def a_code(caller: Caller, grace: User) -> str:
    """One that somebody has approved."""
    codes = begin(clients=["codex", "claude-code"], host="laptop", user="grace", agent="", address="")
    approve(codes.row, caller=caller, owner=grace, agents={"codex": "grace-codex"}, scopes=["read"])
    return codes.device_code


@pytest.mark.parametrize("is_known", [True, False], ids=["with a token", "without"])
def test_what_programs_ask_is_answered_as_described(
    api: OpenApiSchema, caller: Caller, grace: User, is_known: bool
) -> None:
    def prepare(case: Case[Any], mode: GenerationMode) -> dict[str, str]:
        """The headers of a request; for a well-formed one also what it takes to be granted."""
        Enrolment.objects.all().delete()
        if not is_known:
            return {}
        if case.path == "/connect/token/" and mode is GenerationMode.POSITIVE:
            assert isinstance(case.body, dict)
            case.body["device_code"] = a_code(caller, grace)
        AccessToken.unscoped.update(revoked_at=clock.now())
        return {"Authorization": f"Bearer {a_token(caller, grace)}"}

    problems, granted = [], set()
    for result in api.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        for mode in MODES:
            try:
                granted |= _try_out(operation, mode, prepare)
            except FailureGroup as failure:
                problems.append(f"{operation.label} ({mode.name}): {failure}")
    assert not problems, "\n".join(problems)
    files = {"/connect/", "/connect/ctxhub.pyz", "/connect/ctxhub.pyz.sha256"}
    with_tokens = {"/connect/token/", "/connect/renew/", "/connect/revoke/"} if is_known else set()
    assert granted == {*files, "/connect/device/", *with_tokens}


def _try_out(
    operation: Any, mode: GenerationMode, prepare: Callable[[Case[Any], GenerationMode], dict[str, str]]
) -> set[str]:
    """Cases at random, and those at each edge of the schema. Returns the paths that answered with 200."""
    granted = set()

    def answers(case: Case[Any]) -> None:
        headers = prepare(case, mode)
        response = case.call(headers=headers)
        told = response.json()["error_description"] if response.status_code == 400 else ""
        is_expected = any(re.search(expected, told) for expected in REFUSED)
        excluded: list[Any] = [positive_data_acceptance] if is_expected else []
        case.validate_response(response, headers=headers, excluded_checks=excluded)
        if response.status_code == 200:
            granted.add(case.path)

    for case in operation.schema.iter_coverage_cases(
        operation, generation_modes=[mode], generation_config=operation.schema.config.generation
    ):
        answers(case)
    if mode is GenerationMode.NEGATIVE and not operation.body:
        return granted
    settings(
        max_examples=EXAMPLES * int(os.environ.get("SCHEMA_EXAMPLES", "1")),
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )(given(case=operation.as_strategy(generation_mode=mode))(answers))()
    return granted
