"""Lists a project's tags, scopes, categories and layers, and adds layers."""

from typing import Annotated

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.filters import LayerFilter, WordFilter
from ctxhub.core.api.pages import Page
from ctxhub.core.api.schemas import LayerName, UsedWord
from ctxhub.core.api.takes import ONLY_A_PAGE, Takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.limits import WORD
from ctxhub.core.models import Category, Layer, Scope, Tag
from ctxhub.core.toolbox.argument_types import About
from ctxhub.core.vocabulary.selectors.lists import layers_of, list_words, words_of
from ctxhub.core.vocabulary.services.layers import add_layer


class AddLayer(TypedDict):
    name: Annotated[str, About(schema=WORD)]


class TagViewSet(ProjectViewSet):
    queries = {"list": ONLY_A_PAGE}
    filters = {"list": WordFilter}
    queryset = Tag.unscoped.none()

    @extend_schema(responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Tags, most used first."""
        words = self.filtered(words_of(Tag, self.project_id))
        return self.listed(Page.of(list_words(words, **self.query)))


class ScopeViewSet(ProjectViewSet):
    queries = {"list": ONLY_A_PAGE}
    filters = {"list": WordFilter}
    queryset = Scope.unscoped.none()

    @extend_schema(responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Scopes, most used first."""
        words = self.filtered(words_of(Scope, self.project_id))
        return self.listed(Page.of(list_words(words, **self.query)))


class CategoryViewSet(ProjectViewSet):
    queries = {"list": ONLY_A_PAGE}
    filters = {"list": WordFilter}
    queryset = Category.unscoped.none()

    @extend_schema(responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Categories of constraints, most used first."""
        words = self.filtered(words_of(Category, self.project_id))
        return self.listed(Page.of(list_words(words, **self.query)))


class LayerViewSet(ProjectViewSet):
    queries = {"list": ONLY_A_PAGE}
    filters = {"list": LayerFilter}
    queryset = Layer.unscoped.none()
    bodies = {"create": Takes(AddLayer, example={"name": "documentation"})}
    scopes = {"create": ADMIN}

    @extend_schema(responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Layers, in the project's order."""
        return self.listed(Page.of(list_words(self.filtered(layers_of(self.project_id)), **self.query)))

    @extend_schema(responses={201: LayerName})
    def create(self, request: Request, slug: str) -> Response:
        """Add a layer, below those there are. An administrator's."""
        return Response(
            self.once(lambda: {"name": add_layer(caller=self.caller, **self.body).name}), status=201
        )
