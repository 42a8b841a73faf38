"""Lets this thread work on another database than the hub's, as a restore and a drill do."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import connection

from ctxhub.core.kit.replaced_file import forget_all


@contextmanager
def connected_to(database: Mapping[str, Any]) -> Iterator[None]:
    """`database` has the settings that differ from the hub's, such as NAME. For commands alone."""
    own = connection.settings_dict
    connection.close()
    connection.settings_dict = {**own, **database}
    forget_all()
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = own
        forget_all()
