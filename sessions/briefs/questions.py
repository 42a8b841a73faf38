"""What a briefing is asked for: the task, the paths that it names, and what matches it."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import cached_property

from ctxhub.core.kit.caller import Caller
from ctxhub.core.kit.frozen import frozen
from ctxhub.core.kit.lengths import PATH_LENGTH
from ctxhub.core.links import ObjectKey
from ctxhub.core.paths.bearing import bears_on, specificity
from ctxhub.core.paths.case import compared_by
from ctxhub.core.paths.queries import find_bearings
from ctxhub.core.search.rankings import Rankings, rank_objects
from ctxhub.core.text.lazy_patterns import lazy_pattern

MOST_PATHS = 20

# Letters of scripts without blanks end a path: a sentence goes on right behind it.
_WORD = lazy_pattern(
    r"[^\s\"'`<>(){}|,;:=!?&#$%^~\u2010-\u206f\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]+"
)
_FILE = lazy_pattern(r"[\w+-]+(?:\.[\w+-]+)*\.[a-z][a-z0-9]{0,4}")
_ABBREVIATIONS = {"e.g", "i.e"}


def paths_in(text: str) -> list[str]:
    """The words with a slash and those with a file's extension, at most 20; no addresses of the web."""
    return list(dict.fromkeys(_found(unicodedata.normalize("NFC", text))))[:MOST_PATHS]


def in_short(text: str, paths: Iterable[str]) -> str:
    """The text with the end of each path alone, the folder and the name without extensions.

    What stands before says little: `backend/shop/search/ranking.py` -> `search ranking`.
    """
    for path in sorted(paths, key=len, reverse=True):
        *folders, name = path.split("/")
        text = text.replace(path, " ".join([*folders[-1:], name.partition(".")[0] or name]))
    return text


def _found(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        is_port = text[match.start() - 1 : match.start()] == ":" and match[0][0].isdigit()
        path = _bare(match[0].replace("\\", "/"))
        if not is_port and _is_path(path):
            yield path
            if path.startswith("@") and _is_path(path[1:]):
                yield path[1:]  # A mention: `@src/app.py`.


def _bare(word: str) -> str:
    """The word without marks around it: full stops, emphasis, brackets of a list or a link."""
    if word.startswith("*") and not word.startswith(("**/", "*/", "*.")):
        word = word.strip("*")
    word = word.rstrip(".")
    if word.startswith("[") and word.find("]") in (-1, len(word) - 1):
        word = word[1:].removesuffix("]")
    elif word.endswith("]") and "[" not in word:
        word = word[:-1]
    while word.startswith("./"):
        word = word[2:]
    return word.rstrip(".")


def _is_path(word: str) -> bool:
    if "/" not in word:
        return bool(_FILE.fullmatch(word)) and word not in _ABBREVIATIONS
    *folders, name = word.split("/")
    return (
        len(word) <= PATH_LENGTH
        and all(folders)
        and any(character.isalnum() for character in word)
        and not any(segment and not segment.strip(".") for segment in (*folders, name))
    )


RANKED_KINDS = ("constraint", "decision", "message", "memory", "snapshot")
# How many objects of each kind are ranked: more for a larger budget.
LEAST_RANKED, MOST_RANKED, TOKENS_PER_RANKED = 30, 60, 50
# What a match of a path adds to a score: little for memories, of which many name the same folders.
PATH_SCORES = {"constraint": 0.5, "decision": 0.5, "memory": 0.1}
GOOD_MATCH = 0.2
# What matches less than this share of the best is noise.
LEAST_MATCH = 0.3


@frozen
class News:
    """What others changed after an event: the refs in the log, and the objects of the ranked kinds."""

    refs: frozenset[str]
    keys: frozenset[ObjectKey]


@frozen(slots=False)
class Question:
    """`now` is the time of the answer. `new`: with `since`, the objects that others changed after it.

    `bearing`: the objects with globs of the paths, and how specific the most specific is.
    """

    caller: Caller
    task: str
    now: datetime
    paths: Sequence[str] = ()
    rankings: Rankings = field(default_factory=Rankings)
    bearing: Mapping[ObjectKey, tuple[int, int]] = field(default_factory=dict)
    new: News | None = None
    most: int = MOST_RANKED

    @property
    def project_id(self) -> int:
        return self.caller.project_id

    @property
    def folded(self) -> str:
        return self.caller.agent.casefold()

    @cached_property
    def best(self) -> float:
        """The score of the best match; one that matches little is not raised to 1."""
        return max([*self.rankings.scores.values(), GOOD_MATCH])

    def score(self, key: ObjectKey) -> float:
        """How well an object matches the task; 0 if it does not."""
        bonus = PATH_SCORES[key[0]] if key in self.bearing else 0.0
        return self.rankings.scores.get(key, 0.0) / self.best + bonus

    def matching(self, kind: str) -> list[int]:
        """The ids of the objects of a kind that match the task, best first."""
        keys = {*self.rankings.scores, *self.bearing}
        found = sorted((-self.score(key), -key[1]) for key in keys if key[0] == kind)
        return [-object_id for _, object_id in found]

    def is_new(self, ref: str) -> bool:
        return self.new is None or ref in self.new.refs

    def names_path(self, patterns: Sequence[str]) -> bool:
        """Whether one of these paths or globs overlaps one that the task names."""
        compared = compared_by(self.caller)
        paths = list(map(compared, self.paths))
        return any(bears_on(compared(pattern), path) for pattern in patterns for path in paths)


def ask(caller: Caller, task: str, now: datetime, budget: int, new: News | None = None) -> Question:
    most = min(max(budget // TOKENS_PER_RANKED, LEAST_RANKED), MOST_RANKED)
    paths = paths_in(task)
    return Question(
        caller,
        task,
        now,
        paths,
        rank_objects(caller.project_id, in_short(task, paths), RANKED_KINDS, limit=most, least=LEAST_MATCH)
        if task
        else Rankings(),
        _bearing(caller, paths) if paths else {},
        new,
        most,
    )


def _bearing(caller: Caller, paths: Sequence[str]) -> dict[ObjectKey, tuple[int, int]]:
    """The objects with globs of the paths, and how specific the most specific is."""
    found: dict[ObjectKey, tuple[int, int]] = {}
    for each in find_bearings(caller.project_id, paths, list(PATH_SCORES), compared_by(caller)):
        if each.pattern:
            found[each.key] = max(found.get(each.key, (0, 0)), specificity(each.pattern))
    return found
