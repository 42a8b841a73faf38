"""A project that has some of everything."""

import pytest

from ctxhub.core.kit.caller import Caller
from ctxhub.core.models import Project
from tests.transfer.world import fill


@pytest.fixture
def full(ada: Caller, ben: Caller) -> Project:
    fill(ada, ben)
    return ada.project
