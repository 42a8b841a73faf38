"""The admin: pages for people, on Django's admin with the unfold theme."""

from ctxhub.core.admin import (
    access_tokens,
    agents,
    data,
    events,
    invitations,
    links,
    people,
    projects,
    refusals,
    sign_in,
    stale,
    vocabulary,
)
from ctxhub.core.admin.needs import tokens
from ctxhub.core.admin.use import admin as use
from ctxhub.core.bin.admin import bin as bin_admin
from ctxhub.core.webhooks.admin import needs as webhook_needs
from ctxhub.core.webhooks.admin import webhooks

__all__ = [
    "access_tokens",
    "agents",
    "bin_admin",
    "data",
    "events",
    "invitations",
    "links",
    "people",
    "projects",
    "refusals",
    "sign_in",
    "stale",
    "tokens",
    "use",
    "vocabulary",
    "webhook_needs",
    "webhooks",
]
