"""REST view of the files that agents have touched."""

from typing import Annotated

from typing_extensions import TypedDict

from ctxhub.core.kit.limits import OPTIONAL_PATH
from ctxhub.rest.operations import lists
from ctxhub.rest.takes import PageArguments, Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import NAMES_FILES, About
from tracking.files.queries import Resource, list_resources


class OfPath(TypedDict, total=False):
    path: Annotated[
        str,
        NAMES_FILES,
        About("A path, or a glob: `src/*.py`, `src/**`, `src/` for everything below.", OPTIONAL_PATH),
    ]


class ResourceViewSet(ProjectViewSet):
    list = lists(
        Takes(PageArguments, also=OfPath),
        Resource,
        by=list_resources,
        orders=(["path"], "path"),
        says="Files by path, each with what is known of it and its last change.",
    )
