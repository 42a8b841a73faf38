"""Reading the files of others, with all that is in them."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ctxhub_client.values import Json


class Refused(Exception):
    """The installer leaves a file as it is, and says why."""


def read_file(path: str) -> str:
    """The text of a file, with bytes that are not UTF-8 kept; "" if there is none."""
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return ""


def read_settings(text: str, path: str) -> Json:
    if not text.strip():
        return {}
    try:
        found = json.loads(text.lstrip("\ufeff"))
    except ValueError as error:
        raise Refused("{} is not JSON, and stays as it is: {}".format(path, error)) from None
    if not isinstance(found, dict):
        raise Refused("{} is not a JSON object, and stays as it is.".format(path))
    return found


def indent_of(text: str) -> Any:
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return (found[1] if "\t" in found[1] else len(found[1])) if found else 2
