"""Every address of REST with every method, for everybody who may ask."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.urls import get_resolver
from pytest_django import Settings

from ctxhub.core.kit.caller import ADMIN, READ, WRITE
from ctxhub.rest.calls import CallViewSet
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.actions import all_tools
from tests.addresses import views_below
from tests.core.test_nulls import minimal_arguments
from tests.databases import rolled_back
from tests.roles.asking import Told, Wrong, compare_with_nothing, is_refused, without_a_trace
from tests.roles.people import Asker
from tests.roles.test_tools import OF_ADA
from tests.roles.world import World

Json = dict[str, Any]

ACTIONS = {action.call: action for tool in all_tools().values() for action in tool.actions.values()}
API = "api/v1/"
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# A number that may only grow, so that no row gets lost unnoticed.
AT_LEAST = 148

# Beside the projects the view says who may; so it does where what is asked decides.
KNOWN, PERSON, SUPERUSER = "whoever is known", "a signed-in person", "a superuser"
EXCEPTIONS = {
    "GET me/": (KNOWN, "everybody may know who they are"),
    "GET projects/": (KNOWN, "it lists what the caller sees"),
    "POST projects/": (SUPERUSER, "projects are made by those who see all of them"),
    "GET me/tokens/": (PERSON, "their own tokens; a token has no owner who asks"),
    "POST me/tokens/": (PERSON, "their own tokens"),
    "GET tokens/": (ADMIN, "the tokens of a project are its administrators'"),
    "POST tokens/": (ADMIN, "the tokens of a project are its administrators'"),
    "DELETE tokens/<int:token_id>/": (ADMIN, "the spare token is nobody's own"),
    "POST tokens/<int:token_id>/rotate/": (ADMIN, "the spare token is nobody's own"),
    "POST bin/restore/": (READ, "the row is a dry run: what was deleted says what it needs else"),
    "DELETE sessions/<id:session_id>/": (WRITE, "another agent's session is an administrator's to delete"),
    "POST sessions/restore/": (WRITE, "and READ: it answers what was saved"),
    "POST sessions/<id:session_id>/restore/": (WRITE, "and READ: it answers what was saved"),
}
