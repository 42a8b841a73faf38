"""Why an address does not take a method, and what to do instead."""

from collections.abc import Iterable, Mapping

from django.urls import Resolver404, resolve
from rest_framework.exceptions import MethodNotAllowed

from ctxhub.core.text.plurals import enumerated

OF_ONE = ("PUT", "PATCH", "DELETE")
GENERAL = "/api/docs/ lists what each address takes."


class UntakenMethod(MethodNotAllowed):
    """`hint`: what to do instead."""

    def __init__(self, method: str, allowed: Iterable[str], hint: str) -> None:
        taken = enumerated([name for name in allowed if name not in ("HEAD", "OPTIONS")])
        super().__init__(method, f"This address takes {taken}, not {method}.")
        self.hint = hint


def untaken(method: str, allowed: Iterable[str], path: str, instead: Mapping[str, str]) -> UntakenMethod:
    """`instead`: what the view says for a method, at the address of one object."""
    known = set(allowed)
    return UntakenMethod(method, sorted(known), instead.get(method) or _hint(method, known, path))


def _hint(method: str, allowed: set[str], path: str) -> str:
    if method == "PUT" and "PATCH" in allowed:
        return "PATCH changes what the body names, and leaves the rest."
    if method == "PATCH" and "PUT" in allowed:
        return "PUT replaces it as a whole."
    if method in OF_ONE and method in _taken_by_one(path):
        return f"{method} takes one object: add its name or id to the address, as in {path}7/."
    if method == "POST" and "PATCH" in allowed:
        return "POST creates, at the address of the list; PATCH changes this one."
    if method == "GET" and "POST" in allowed:
        return "This address does something: POST, with the arguments as JSON."
    return GENERAL


def _taken_by_one(path: str) -> set[str]:
    """The methods of the addresses of single objects below the address of a list."""
    try:
        view = resolve(f"{path}7/").func
    except Resolver404:
        return set()
    return {name.upper() for name in getattr(view, "actions", None) or ()}
