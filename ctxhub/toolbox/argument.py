"""One argument of an action: what its type and its marks say, and how help and descriptions spell it."""

import inspect
from collections.abc import Collection
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin

from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.unset import UNSET
from ctxhub.toolbox.argument_types import (
    NAMES_FILES,
    UNDECLARED,
    About,
    AlsoCalled,
    IdOf,
    Says,
    Shows,
    StandsFor,
)
from ctxhub.toolbox.json_schemas import argument_schema


@frozen(slots=False)
class Argument:
    """One parameter of an action; its type omits Unset and None, which models do not need.

    `nullable`: whether None has a meaning of its own: over REST null clears.
    """

    name: str
    annotation: Any
    required: bool
    default: Any
    nullable: bool = False

    @property
    def says(self) -> str:
        return next((mark.words for mark in self.marks if isinstance(mark, Says)), "")

    @property
    def choices(self) -> list[str]:
        """The allowed words; none where the signature has an example."""
        return self.says.split("|") if "|" in self.says else []

    @property
    def has_fixed_words(self) -> bool:
        """Whether its values are not names that a project gives."""
        about = (mark for mark in self.marks if isinstance(mark, About))
        return bool(self.says) or any("enum" in {**(a.schema or {}), **(a.items or {})} for a in about)

    @property
    def example(self) -> Any:
        """A value in the form that is taken, where models write others; None for most."""
        schemas = (mark.schema for mark in self.marks if isinstance(mark, About) and mark.schema)
        return next((schema["example"] for schema in schemas if "example" in schema), None)

    @property
    def stands_for(self) -> str:
        """The required argument that it is as well, where that is not given."""
        return next((mark.name for mark in self.marks if isinstance(mark, StandsFor)), "")

    @property
    def id_of(self) -> str:
        """The kind of object whose id it is."""
        return next((mark.kind for mark in self.marks if isinstance(mark, IdOf)), "")

    @property
    def kind_of_id(self) -> str:
        """The kind of object whose id, or whose ids, it is."""
        entries = Argument("", get_args(items)[0], False, None) if (items := self._list_type) else None
        return self.id_of or (entries.id_of if entries else "")

    @property
    def is_list(self) -> bool:
        return self.schema.get("type") == "array"

    @property
    def _list_type(self) -> Any:
        """`list[X]` without annotations; None if it is no list of something."""
        kind = get_args(self.annotation)[0] if get_origin(self.annotation) is Annotated else self.annotation
        return kind if get_origin(kind) is list else None

    @property
    def marks(self) -> tuple[Any, ...]:
        """What annotates its type."""
        return marks_of(self.annotation)

    @property
    def also_called(self) -> tuple[str, ...]:
        """The other names that calls may use, but for those of the other number."""
        return next((mark.names for mark in self.marks if isinstance(mark, AlsoCalled)), ())

    @property
    def is_declared(self) -> bool:
        """Whether the list of tools declares it."""
        return UNDECLARED not in self.marks

    @property
    def names_files(self) -> bool:
        """Whether it is a path, a list of paths, or holds some."""
        return NAMES_FILES in self.marks

    @property
    def with_words(self) -> str:
        """The argument with its allowed words: identifies repetitions within a tool's description."""
        return f"{self.name}={self.says}" if self.says else ""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """For a model."""
        return argument_schema(self.annotation)

    @cached_property
    def accepted(self) -> dict[str, Any]:
        """The schema of all that is taken, for OpenAPI."""
        shown = [mark.accepted for mark in self.marks if isinstance(mark, Shows) and mark.accepted]
        return dict(shown[-1]) if shown else self.schema

    @property
    def signature(self) -> str:
        """`key!`, `tags[]`, `limit=20`, `status=active|draft`: how help spells the argument."""
        value = self.says or self._default
        return f"{self._marked}={value}" if value else self._marked

    @property
    def _default(self) -> str:
        return "" if self.default in (UNSET, None, "", inspect.Parameter.empty) else str(self.default).lower()

    def gist(self, listed: Collection[str]) -> str:
        """Return a shorter signature for the tool description, which costs tokens in every session.

        Omits defaults that are numbers or false, and the shape and words that `listed` has for this name.
        """
        marked = self.name + self._needed if f"{self.name}{self._shape}" in listed else self._marked
        if not self.says:
            is_plain = self.default is False or type(self.default) in (int, float)
            return marked if is_plain or not self._default else f"{marked}={self._default}"
        if not self._is_described or self.with_words in listed:
            return marked
        known = max((words for words in listed if self.with_words.startswith(f"{words}|")), default="")
        return f"{marked}=…{self.with_words.removeprefix(known)}" if known else f"{marked}={self.says}"

    @property
    def listed(self) -> set[str]:
        """What a line of the tool description tells about it."""
        return {f"{self.name}{self._shape}", self.with_words}

    @property
    def _is_described(self) -> bool:
        return all(mark.in_description for mark in self.marks if isinstance(mark, Says))

    @property
    def _marked(self) -> str:
        return f"{self.name}{self._needed}{self._shape}"

    @property
    def _needed(self) -> str:
        return "!" if self.required else ""

    @property
    def _shape(self) -> str:
        return {"array": "[]", "object": "{}"}.get(str(self.schema.get("type")), "")


def marks_of(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
