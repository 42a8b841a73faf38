"""Repairs of unknown arguments: those that were meant, those to leave out, and what a model is told of it."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from ctxhub.core.kit.caller import current
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.tool_names import operation
from ctxhub.core.kit.unset import UNSET
from ctxhub.toolbox.aliases import OTHER_ARGUMENTS
from ctxhub.toolbox.argument import Argument
from ctxhub.toolbox.meanings import (
    AGENTS,
    AUTHORS,
    MAIN_TEXTS,
    NOUN_KINDS,
    PROJECTS,
    SAME_WITHOUT,
    SELVES,
    TELLING,
    WRAPPERS,
)
from ctxhub.toolbox.named_objects import refs_named
from ctxhub.toolbox.spelling import in_singular, meant_by_slip, snake

MOST_NAMES = 20  # Further unknown arguments are not repaired.
MOST_TEXT = 65_536
AGENT = "agent"
SESSION = "session"
BY = ("by", "agents")
DECISION, KEY, SUCCESSOR = "decision", "key", "superseded_by"
# What names the old key of a pair, beside the new one.
SUPERSEDED = frozenset(["old", "old_key", "replaces", "supersedes"])
# The tool whose list is an agent's own: `agent_name` says whose it is, and `by` who sent a message.
INBOX = "message"
_TIME = re.compile(r"\s*(\d{4}-\d\d|\d+\s*[smhdw]\b|e\d+$)")


@frozen
class Taken:
    """What a call may have. `arguments`: its declarations, as far as they are known. `noun`: its tool's."""

    names: Sequence[str]
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    writes: bool = False
    noun: str = ""

    @property
    def required(self) -> list[str]:
        return [name for name, argument in self.arguments.items() if argument.required]


@frozen
class Repair:
    """How the arguments of a call become those of an operation.

    `given`: the names of the call. `renamed`: given -> meant; `params.key` is the `key` in `params`, which
    is then empty. `left_out`: given names without which the call says the same. `instead`: arguments in the
    place of some that are left out. `unknown`, `missing`: what remains. `advice`: sentences.
    """

    given: Collection[str]
    renamed: Mapping[str, str]
    left_out: Sequence[str]
    instead: Mapping[str, Any]
    unknown: Sequence[str]
    missing: Sequence[str]
    advice: Sequence[str]

    @property
    def cost(self) -> int:
        """How many arguments are still wrong; 0 if the repaired call is complete."""
        return len(self.unknown) + len(self.missing)

    @property
    def details(self) -> dict[str, Any]:
        """The details of an error that names the operation; empty ones are left out there."""
        return {
            "did_you_mean": dict(self.renamed),
            "leave_out": list(self.left_out),
            "missing": list(self.missing),
        }


def repair(given: Collection[str], taken: Taken, *, kind: str = "", mends_slips: bool = True) -> Repair:
    """Repair the arguments of a call.

    `given`: the names, or the arguments with their values. `kind`: that of the object which the call names.
    A known argument is meant by one name at most, and by none if the call has it.
    """
    return _Repairing(given, taken, kind).result(mends_slips)


class _Repairing:
    def __init__(self, given: Collection[str], taken: Taken, kind: str) -> None:
        self.given = given if isinstance(given, Mapping) else dict.fromkeys(given, UNSET)
        self.taken, self.kind = taken, kind
        self.renamed: dict[str, str] = {}
        self.left_out: list[str] = []
        self.instead: dict[str, Any] = {}
        self.advice: dict[str, list[str]] = {}
        self.free = [name for name in taken.names if name not in self.given and name != AGENT]

    def result(self, mends_slips: bool) -> Repair:
        unknown = [name for name in self.given if name not in self.taken.names]
        names, further = unknown[:MOST_NAMES], unknown[MOST_NAMES:]
        names = [name for name in self._without_objects(names) if not self._is_same_without(name)]
        names = [name for name in names if not self._turn_round(name)]
        names = [name for name in names if not self._rename(name, name, self.given[name])]
        names = [name for name in names if not self._unwrap(name)]
        names = [name for name in names if not self._leave_out(name)]
        if mends_slips:
            names = [name for name in names if not self._mend_slip(name)]
        covered = {*self.given, *self.renamed.values(), *self.instead}
        missing = [name for name in self.taken.required if name not in covered]
        order = list(self.given)
        renamed = dict(sorted(self.renamed.items(), key=lambda pair: order.index(pair[0].partition(".")[0])))
        return Repair(
            self.given.keys(),
            renamed,
            self.left_out,
            self.instead,
            [*names, *further],
            missing,
            self._sentences(),
        )

    # -- Renaming ----------------------------------------------------------------------------------

    def _rename(self, said: str, name: str, value: Any) -> bool:
        plain = snake(name)
        if (
            plain in (AUTHORS if self.taken.noun == INBOX else AUTHORS | AGENTS)
            and not self.taken.writes
            and (found := self._first(BY))
            and not _is_time(value)
        ):
            return self._take(said, found)
        candidates = [one for one in self._candidates(plain) if one in self.free]
        fitting = [one for one in candidates if self._means(plain, one, value)]
        if found := next((one for one in fitting if self._suits(one, value)), None):
            return self._take(said, found)
        return bool(fitting) and not isinstance(value, dict | list) and self._take(said, fitting[0])

    def _candidates(self, plain: str) -> Iterator[str]:
        """What a name may stand for: itself in snake case, its synonyms, itself without a noun."""
        yield plain
        yield from OTHER_ARGUMENTS.get(plain, ())
        if plain in AUTHORS | AGENTS | SELVES | PROJECTS:
            return
        if (short := plain.removesuffix("_name")) != plain:
            yield short
        noun, _, rest = plain.partition("_")
        if rest and (NOUN_KINDS.get(noun) or noun == self.taken.noun):
            yield rest
            yield from OTHER_ARGUMENTS.get(rest, ())

    def _means(self, plain: str, meant: str, value: Any) -> bool:
        """Whether an argument can be meant: of the same kind of object, no text in another's place."""
        if plain == meant:
            return True
        if plain in TELLING and meant in MAIN_TEXTS:
            return meant in self.taken.required
        if plain in AUTHORS and meant in ("since", "until"):
            return _is_time(value)
        if plain == "by" and meant == "superseded_by":
            return not self._is_caller(value)
        if plain == "to" and meant == "until":
            return _is_time(value)
        if meant == "text" and plain in ("title", "objective"):
            return meant in self.taken.required
        if plain in ("id", "identifier") and meant in ("context", "key", "session", "source"):
            return meant in (self.taken.arguments if self.taken.noun == meant else self.taken.required)
        noun, _, what = plain.rpartition("_")
        kind = NOUN_KINDS.get(in_singular(noun)) if what in ("id", "ids", "ref", "refs") else None
        return kind is None or self._kind_of(meant) in (kind, "")

    def _kind_of(self, name: str) -> str:
        """The kind of object that an argument names; "" if it is none or any."""
        argument = self.taken.arguments.get(name)
        if argument and argument.id_of:
            return argument.id_of
        if name in ("id", "ids", "source"):
            return self.taken.noun
        noun = name.removesuffix("_ids").removesuffix("_id")
        return NOUN_KINDS.get(noun, "")

    def _suits(self, name: str, value: Any) -> bool:
        """Whether the declaration may take a value of this form."""
        argument = self.taken.arguments.get(name)
        if argument is None or value is UNSET:
            return not isinstance(value, dict) or argument is not None
        kinds = argument.schema.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if isinstance(value, dict):
            return "object" in kinds
        if isinstance(value, list):
            return "array" in kinds
        if isinstance(value, bool):
            return "boolean" in kinds
        if kinds == ["boolean"]:
            return str(value).lower() in ("true", "false")
        if kinds == ["integer"] and isinstance(value, str) and not argument.id_of:
            return value.strip().isdecimal()
        if isinstance(value, int) and not isinstance(value, bool) and name in MAIN_TEXTS and name != "value":
            return False
        is_word = (
            isinstance(value, str) and argument.choices and argument.has_fixed_words and "array" not in kinds
        )
        return not is_word or "…" in argument.says or value.lower() in argument.choices

    def _first(self, names: Sequence[str]) -> str | None:
        return next((name for name in names if name in self.free), None)

    def _take(self, said: str, meant: str) -> bool:
        self.renamed[said] = meant
        self.free.remove(meant)
        return True

    def _mend_slip(self, name: str) -> bool:
        # A name with known meanings is no slip: if none of them fits, nothing is suggested.
        plain = snake(name)
        if (
            plain in OTHER_ARGUMENTS
            or plain in AUTHORS | AGENTS | SELVES | PROJECTS
            or isinstance(self.given[name], dict)
        ):
            return False
        agent = [AGENT] if AGENT in self.taken.names and AGENT not in self.given else []
        found = meant_by_slip(name, [*self.free, *agent])
        if found == AGENT:
            self.renamed[name] = found
            return True
        return bool(found) and self._take(name, str(found))

    # -- Arguments within arguments ------------------------------------------------------------------

    def _unwrap(self, name: str) -> bool:
        """Rename what an argument holds, if every name in it is understood."""
        plain = snake(name)
        held = held_in(self.given[name])
        if held is None or not (plain in WRAPPERS or in_singular(plain) in NOUN_KINDS):
            return False
        before = dict(self.renamed), list(self.free)
        for inner, value in held.items():
            if inner == "action":
                continue
            said = f"{name}.{inner}"
            is_meant = self._take(said, inner) if inner in self.free else self._rename(said, inner, value)
            if not is_meant:
                self.renamed, self.free = before
                return False
        self._advise("Give what {} holds as arguments of their own.", name)
        return True

    # -- Leaving out -------------------------------------------------------------------------------

    def _leave_out(self, name: str) -> bool:
        plain, value = snake(name), self.given[name]
        caller = current()
        if plain in AUTHORS | AGENTS | SELVES:
            return self._leave_out_speaker(name, plain, value)
        if plain in PROJECTS and caller is not None:
            if isinstance(value, str) and value.casefold() in _names_of(caller.project):
                return self._drop(name, f"Leave out {{}}: this is the project {caller.project.slug}.")
            self._advise(f"This connection is of the project {caller.project.slug}.", name)
            return False
        return False

    def _is_same_without(self, name: str) -> bool:
        neutral, needed = SAME_WITHOUT.get(snake(name), (UNSET, ""))
        is_neutral = type(self.given[name]) is type(neutral) and self.given[name] == neutral
        is_so = is_neutral and (not needed or needed in self.taken.names)
        return is_so and self._drop(name, "Leave out {}: it is so anyway.")

    def _leave_out_speaker(self, name: str, plain: str, value: Any) -> bool:
        """Who speaks is the connection's matter: what a write says of its author is left out."""
        caller = current()
        agent = caller.agent if caller else ""
        is_caller = self._is_caller(value)
        speaks = f"you speak as {agent}" if agent else "who speaks is a matter of the connection"
        if (plain in AUTHORS and self.taken.writes) or (is_caller and plain in AGENTS | SELVES):
            return self._drop(name, f"Leave out {{}}: {speaks}.")
        if agent and AGENT in self.taken.names:
            self._advise(f"{speaks[0].upper()}{speaks[1:]}.", name)
        return False

    def _is_caller(self, value: Any) -> bool:
        caller = current()
        agent = caller.agent if caller else ""
        return isinstance(value, str) and value.strip().casefold() == agent.casefold()

    def _drop(self, name: str, sentence: str) -> bool:
        self.left_out.append(name)
        self._advise(sentence, name)
        return True

    # -- Objects -----------------------------------------------------------------------------------

    def _without_objects(self, names: list[str]) -> list[str]:
        """Put refs in the place of ids and kinds, for an operation that takes refs."""
        if "refs" not in self.taken.required or "refs" not in self.free:
            return names
        # Any call may name its session; only where sessions are meant it is the object.
        own = [SESSION] if self.kind == SESSION and SESSION in self.given else []
        refs, told = refs_named(self.given, self.kind, [*names, *own])
        if not refs:
            return names
        self.instead["refs"] = refs
        self.free.remove("refs")
        self.left_out += told
        return [name for name in names if name not in told]

    def _turn_round(self, name: str) -> bool:
        """Put the old key in the place of the new one, for a call that says what its key supersedes."""
        if snake(name) not in SUPERSEDED or KEY not in self.given:
            return False
        if self.taken.noun == DECISION and SUCCESSOR not in self.taken.names and self.taken.writes:
            deprecate = operation("decision deprecate")
            self._advise(f"Without {{}}; then {deprecate} with the old key and superseded_by.", name)
        if SUCCESSOR not in self.free or not isinstance(self.given[name], str):
            return False
        self.instead |= {KEY: self.given[name], SUCCESSOR: self.given[KEY]}
        self.free.remove(SUCCESSOR)
        return self._drop(name, "key is the old one, superseded_by the new one.")

    # -- Sentences ---------------------------------------------------------------------------------

    def _advise(self, sentence: str, name: str) -> None:
        self.advice.setdefault(sentence, []).append(name)

    def _sentences(self) -> list[str]:
        return [sentence.format(", ".join(names)) for sentence, names in self.advice.items()]


def held_in(value: Any) -> dict[str, Any] | None:
    """The object that a value is, or has as JSON; None for other values."""
    if isinstance(value, str) and value.lstrip().startswith("{") and len(value) <= MOST_TEXT:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    is_small = isinstance(value, dict) and 0 < len(value) <= MOST_NAMES
    return value if is_small and all(isinstance(name, str) for name in value) else None


def _names_of(project: Any) -> set[str]:
    return {project.slug.casefold(), project.name.casefold(), str(project.pk)}


def _is_time(value: Any) -> bool:
    return isinstance(value, str) and bool(_TIME.match(value))
