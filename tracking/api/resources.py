"""REST view of the files that agents have touched."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import Takes
from ctxhub.core.api.views import ProjectViewSet
from tracking.api import schemas
from tracking.selectors.resources import list_resources


class ResourceViewSet(ProjectViewSet):
    queries = {"list": Takes(schemas.ListResources)}

    @extend_schema(responses=page_of(schemas.Resource))
    def list(self, request: Request, slug: str) -> Response:
        """Files by path, each with its last change."""
        return self.listed(Page.of(list_resources(self.project_id, **self.query)))
