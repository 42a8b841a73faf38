"""The world of each module, made once: what a cell of the walk writes is rolled back."""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import pytest
import time_machine

from ctxhub.core.kit import clock
from tests.conftest import just_cleaned
from tests.roles.world import World, make_world


@pytest.fixture(scope="module")
def _world_of_module(rows_of_module: Callable[[], AbstractContextManager[None]]) -> World:
    with rows_of_module():
        return make_world()


@pytest.fixture
def world(_world_of_module: World, db: None) -> World:
    for project in (_world_of_module.apollo, _world_of_module.hermes):
        just_cleaned(project)
    return _world_of_module


@pytest.fixture
def no_time_passes() -> Iterator[None]:
    """Between two answers that are compared."""
    with time_machine.travel(clock.now(), tick=False):
        yield


@pytest.fixture(autouse=True)
def no_log_of_refusals() -> Iterator[None]:
    """Thousands of them are expected."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)
