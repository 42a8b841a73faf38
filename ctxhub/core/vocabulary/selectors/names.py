"""Looks up the rows for the names in a call: its agent, layers, tags, scopes and categories."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ctxhub.core.kit import sql
from ctxhub.core.kit.caller import for_readers
from ctxhub.core.kit.errors import shown, unknown_word
from ctxhub.core.kit.inputs import clean_name
from ctxhub.core.vocabulary.tag_filters import TagFilter, may_be_found, read_tag_filters


@dataclass(slots=True)
class Vocabulary:
    """Ids by case-folded name, and spellings. Valid only in the transaction that read them.

    `spellings`: the stored spelling of each word, by kind ("tag") and case-folded name.
    """

    agent_id: int | None = None
    tags: dict[str, int] = field(default_factory=dict)
    scopes: dict[str, int] = field(default_factory=dict)
    categories: dict[str, int] = field(default_factory=dict)
    layers: dict[str, tuple[int, str]] = field(default_factory=dict)
    spellings: dict[tuple[str, str], str] = field(default_factory=dict)

    def layer(self, name: str) -> tuple[int, str]:
        """Id and spelling of a layer. Raises InvalidInput, with the known layers, if there is none."""
        if found := self.layers.get(name.casefold()):
            return found
        known = [spelling for _, spelling in sorted(self.layers.values())]
        raise for_readers(unknown_word("layer", name, known), otherwise=f"layer: {shown(name)} is not known.")

    def word_id(self, field: str, name: str) -> int:
        """The id of a stored word, by the field that holds it: tags, scopes."""
        ids = self.tags if field == "tags" else self.scopes
        return ids[name.casefold()]

    def found_by(self, filters: Sequence[TagFilter]) -> list[dict[str, int]]:
        """The tags that each of these filters finds, as `tags`; they were read with `find_vocabulary`."""
        return [
            {folded: tag_id for folded, tag_id in self.tags.items() if each.finds(folded)} for each in filters
        ]

    def spelled(self, kind: str, name: str) -> str:
        """The name in the project's spelling, which is that of its first use."""
        return self.spellings.get((kind, name.casefold()), name)


def ids_of(found: Iterable[Mapping[str, int]]) -> list[list[int]]:
    """The ids of the words that each filter found."""
    return [list(words.values()) for words in found]


def find_vocabulary(
    project_id: int,
    *,
    agent: str = "",
    tags: Iterable[str] = (),
    tag_filters: Sequence[TagFilter] = (),
    scopes: Iterable[str] = (),
    categories: Iterable[str] = (),
    layers: bool = False,
) -> Vocabulary:
    """Look up all names in one query; unknown names are left out. `layers`: read all layers.

    `tag_filters`: read the tags that they may find.
    """
    parts, values = [], []
    by_kind = {"agent": [agent] if agent else [], "tag": tags, "scope": scopes, "category": categories}
    for kind, names in ((kind, list(names)) for kind, names in by_kind.items()):
        if names:
            parts.append(
                f"SELECT '{kind}', folded, id, name FROM core_{kind} "
                f"WHERE project_id = %s AND folded IN ({sql.marks(names)})"
            )
            values += [project_id, *(name.casefold() for name in names)]
    if tag_filters:
        where, found = may_be_found(tag_filters)
        parts.append(f"SELECT 'tag', folded, id, name FROM core_tag WHERE project_id = %s AND {where}")
        values += [project_id, *found]
    if layers:
        parts.append("SELECT 'layer', folded, id, name FROM core_layer WHERE project_id = %s")
        values.append(project_id)
    words = Vocabulary()
    ids = {"tag": words.tags, "scope": words.scopes, "category": words.categories}
    for kind, folded, row_id, name in sql.rows(" UNION ALL ".join(parts), values) if parts else ():
        words.spellings[kind, folded] = name
        if kind == "agent":
            words.agent_id = row_id
        elif kind == "layer":
            words.layers[folded] = (row_id, name)
        else:
            ids[kind][folded] = row_id
    return words


def find_tag_ids(project_ids: Sequence[int], text: str) -> list[int]:
    """The ids of the tags of these projects that one entry of a filter finds. Raises InvalidInput."""
    filters = read_tag_filters([text], "tag")
    among, values = sql.among("project_id", project_ids)
    where, bounds = may_be_found(filters)
    found = sql.rows(f"SELECT folded, id FROM core_tag WHERE {among} AND {where}", [*values, *bounds])
    return [tag_id for folded, tag_id in found if any(each.finds(folded) for each in filters)]


def scope_ids_of(project_id: int, scope: str) -> list[int]:
    """The ids of the scopes that match a name or a glob (`api/*`)."""
    folded = clean_name(scope, "scope").casefold()
    if "*" not in folded:
        return list(find_vocabulary(project_id, scopes=[folded]).scopes.values())
    found = sql.rows(
        "SELECT id FROM core_scope WHERE project_id = %s AND folded LIKE %s ESCAPE '\\'",
        [project_id, _like(folded)],
    )
    return [row_id for (row_id,) in found]


def _like(glob: str) -> str:
    return glob.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("*", "%")
