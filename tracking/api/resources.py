"""REST view of the files that agents have touched."""

from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import PageArguments, Takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.limits import OPTIONAL_PATH
from ctxhub.core.toolbox.argument_types import NAMES_FILES, About
from tracking.selectors.resources import Resource, list_resources


class OfPath(TypedDict, total=False):
    path: Annotated[
        str,
        NAMES_FILES,
        About("A path, or a glob: `src/*.py`, `src/**`, `src/` for everything below.", OPTIONAL_PATH),
    ]


class ResourceViewSet(ProjectViewSet):
    queries = {"list": Takes(PageArguments, also=OfPath)}

    @extend_schema(responses=page_of(Resource))
    def list(self, request: Request, slug: str) -> Response:
        """Files by path, each with what is known of it and its last change."""
        return self.listed(Page.of(list_resources(self.project_id, **self.query)))
