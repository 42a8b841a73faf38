"""URLs of admin pages."""

import pytest
from django.urls import reverse, set_script_prefix

from ctxhub.console.urls import row_urls


@pytest.mark.parametrize("view", ["core_agent_change", "messaging_message_read"])
@pytest.mark.parametrize("row_id", [1, 10, 2_000_000_007])
@pytest.mark.parametrize("prefix", ["/", "/0/hub0/"])
def test_the_urls_of_rows_are_those_that_django_reverses(view: str, row_id: int, prefix: str) -> None:
    set_script_prefix(prefix)
    try:
        assert row_urls(f"admin:{view}")(row_id) == reverse(f"admin:{view}", args=[row_id])
    finally:
        set_script_prefix("/")
