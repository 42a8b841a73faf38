"""A token is replaced before it ends, by itself, where whoever approved it allowed that."""

from __future__ import annotations

from ctxhub_client.access.credentials import Credential, NotStored, keep, matching
from ctxhub_client.access.enrolling import credential_of
from ctxhub_client.access.requests import HubRefused, post
from ctxhub_client.process import log
from ctxhub_client.settings import stored_token, use_token

RENEWED_BEFORE_SECONDS = 21 * 86_400


def renew_stored() -> None:
    """Renew the token that this process uses, if it is one that `connect` has stored and it is due."""
    stored = stored_token()
    if stored is not None:
        new = renew_if_due(stored)
        if new is not stored:
            use_token(new)


def renew_if_due(old: Credential) -> Credential:
    """The one to use from now on: a new one, one that another process has got meanwhile, or the old one."""
    if not old.renews or not 0 < old.seconds_left() < RENEWED_BEFORE_SECONDS:
        return old
    for stored in matching(old.hub, old.project, old.agent, old.client):
        if stored.token != old.token:
            return stored
        break
    try:
        answer = post(old.hub, "renew", {}, old.token)
        new = credential_of(answer, answer)
        new.hub = old.hub
        keep([new])
    except (HubRefused, NotStored) as error:
        log("renewing:", error)
        return old
    return new
