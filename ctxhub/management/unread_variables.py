"""Finds variables that were meant for the hub and that nothing reads: a mistyped name has no effect."""

import os
import re
from collections.abc import Iterator, Sequence

from ctxhub import env
from ctxhub.core.kit.errors import shown

FOR_HOOKS = {"CTXHUB_URL", "CTXHUB_TOKEN", "CTXHUB_AGENT", "CTXHUB_ENFORCE", "CTXHUB_CAPTURE"}
"""What hooks read, which may stand in the shell's profile or beside the others."""
OWN = re.compile(r"(CTXHUB|DATABASE|DJANGO_SUPERUSER)_", re.IGNORECASE)


def unread_variables() -> Iterator[str]:
    """A sentence for each unknown name in `.env`; of the environment only for likely slips."""
    known = known_variables()
    for place, names in ((".env", env.kept_names()), ("The environment", sorted(os.environ))):
        for name in names:
            if name in known | FOR_HOOKS:
                continue
            near = _nearest(name.upper(), sorted(known))
            if place == ".env" or (OWN.match(name) and near):
                meant = f"; perhaps {near} is meant" if near else ""
                yield f"{place} sets {shown(name)}, which nothing here reads{meant}."


def known_variables() -> set[str]:
    """Those that `.env.example` lists, which a test compares with the code."""
    example = env.ROOT / ".env.example"
    return set(re.findall(r"^#?([A-Z_]+)=", example.read_text(), re.MULTILINE)) if example.exists() else set()


def _nearest(name: str, known: Sequence[str]) -> str:
    """The variable of which the name is a slip of one or two letters, if any."""
    from rapidfuzz import fuzz, process  # Only a name that is not known needs it.

    found = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=85)
    return str(found[0]) if found else ""
