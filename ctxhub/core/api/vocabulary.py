"""Lists a project's tags, scopes, categories and layers, and adds layers."""

from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.schemas import LayerName, UsedWord
from ctxhub.core.api.takes import ONLY_A_PAGE, Takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.limits import WORD
from ctxhub.core.models import Category, Scope, Tag
from ctxhub.core.toolbox.argument_types import About
from ctxhub.core.vocabulary.selectors.lists import list_layers, list_words
from ctxhub.core.vocabulary.services.layers import add_layer


class AddLayer(TypedDict):
    name: Annotated[str, About(schema=WORD)]


class TagViewSet(ProjectViewSet):
    queries = {"list": ONLY_A_PAGE}

    @extend_schema(responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Tags, most used first."""
        return self.listed(Page.of(list_words(Tag, self.project_id, **self.query)))


class ScopeViewSet(ProjectViewSet):
    queries = {"list": ONLY_A_PAGE}

    @extend_schema(responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Scopes, most used first."""
        return self.listed(Page.of(list_words(Scope, self.project_id, **self.query)))


class CategoryViewSet(ProjectViewSet):
    queries = {"list": ONLY_A_PAGE}

    @extend_schema(responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Categories of constraints, most used first."""
        return self.listed(Page.of(list_words(Category, self.project_id, **self.query)))


class LayerViewSet(ProjectViewSet):
    queries = {"list": ONLY_A_PAGE}
    bodies = {"create": Takes(AddLayer, example={"name": "documentation"})}
    scopes = {"create": ADMIN}

    @extend_schema(responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Layers, in the project's order."""
        return self.listed(Page.of(list_layers(self.project_id, **self.query)))

    @extend_schema(responses={201: LayerName})
    def create(self, request: Request, slug: str) -> Response:
        """Add a layer, below those there are. An administrator's."""
        return Response(
            self.once(lambda: {"name": add_layer(caller=self.caller, **self.body).name}), status=201
        )
