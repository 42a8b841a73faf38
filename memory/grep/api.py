"""REST view of the search over lines of files."""

from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from ctxhub.rest.operations import shows
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About
from memory.memories.api import Hits


class Line(TypedDict):
    file: str
    line: Annotated[int, About("Its number, from 1.")]
    text: Annotated[str, About("Up to 300 characters around the hit.")]
    before: list[str]
    after: list[str]


class GrepAnswer(Hits):
    items: Annotated[list[Line], About("In the order of files and lines.")]
    total: Annotated[int, About("How many lines match, counted to 1,000.")]
    more: NotRequired[Annotated[bool, About("There are more than `total`.")]]
    files: Annotated[int, About("How many files they are in.")]
    truncated: NotRequired[Annotated[bool, About("There was more to look at than two seconds allow.")]]


class GrepViewSet(ProjectViewSet):
    search = shows(
        takes("memory", "grep"),
        GrepAnswer,
        says="Lines of the project's files that match a regular expression, where an administrator allows"
        " it.",
    )
