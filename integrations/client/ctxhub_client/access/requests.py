"""Requests to the addresses of a hub below /connect/."""

from __future__ import annotations

import json

from ctxhub_client.hub import how_to_trust, open_connection
from ctxhub_client.settings import address_problem
from ctxhub_client.values import read_json, text_of
from ctxhub_client.version import user_agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxhub_client.values import Json

SECONDS = 15
MOST_BYTES = 1_000_000


class HubRefused(Exception):
    """`error`: the hub's word for it, "" where it did not answer as one; `values`: all that it said."""

    def __init__(self, message: str, error: str = "", values: Json | None = None) -> None:
        super().__init__(message)
        self.error = error
        self.values = values or {}


def not_reached(hub: str, error: Exception) -> HubRefused:
    hint = how_to_trust(error)
    return HubRefused("The hub at {} cannot be reached: {}{}".format(hub, error, hint and ". " + hint))


def who(hub: str, token: str) -> Json | None:
    """What the hub says of a token: project, agent, pinned, scopes. None if it refuses it.

    Raises HubRefused if the hub cannot be asked.
    """
    try:
        connection, prefix = open_connection(hub, SECONDS)
        headers = {"Authorization": "Bearer " + token, "User-Agent": user_agent()}
        connection.request("GET", prefix + "/api/v1/me/", headers=headers)
        answer = connection.getresponse()
        values = read_json(answer.read(MOST_BYTES))
    except Exception as error:
        raise not_reached(hub, error) from None
    return values if answer.status == 200 and text_of(values, "project") else None


def post(hub: str, name: str, body: Json, token: str = "") -> Json:
    """What `/connect/NAME/` of a hub answers. Raises HubRefused."""
    if problem := address_problem(hub):
        raise HubRefused(problem.replace("CTXHUB_URL", "The hub's address").partition(" Until then")[0])
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": user_agent(),
    }
    if token:
        headers["Authorization"] = "Bearer " + token
    try:
        connection, prefix = open_connection(hub, SECONDS)
        connection.request("POST", "{}/connect/{}/".format(prefix, name), json.dumps(body), headers)
        answer = connection.getresponse()
        values = read_json(answer.read(MOST_BYTES))
    except Exception as error:
        raise not_reached(hub, error) from None
    if answer.status == 200 and values:
        return values
    told = text_of(values, "error_description", "message")
    if not told:
        message = "At {} no hub of this release answers: HTTP {}.".format(hub, answer.status)
        raise HubRefused(message)
    hint = text_of(values, "hint")
    raise HubRefused("{} {}".format(told, hint).strip(), text_of(values, "error"), values)
