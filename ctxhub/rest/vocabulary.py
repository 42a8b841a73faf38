"""Lists a project's tags, scopes, categories and layers, and adds layers."""

from typing import Annotated

from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from ctxhub.core.kit.caller import ADMIN
from ctxhub.core.kit.limits import WORD
from ctxhub.core.models import Category, Layer, Scope, Tag
from ctxhub.core.vocabulary.queries import layers_of, list_words, words_of
from ctxhub.core.vocabulary.services import add_layer
from ctxhub.rest.answers import page_of
from ctxhub.rest.filters import LayerFilter, WordFilter
from ctxhub.rest.operations import Method, operation
from ctxhub.rest.pages import Page
from ctxhub.rest.schemas import LayerName, UsedWord
from ctxhub.rest.takes import ONLY_A_PAGE, Takes
from ctxhub.rest.views import ProjectViewSet
from ctxhub.toolbox.argument_types import About


class AddLayer(TypedDict):
    name: Annotated[str, About(schema=WORD)]


def used_words(words: type[Tag] | type[Scope] | type[Category], says: str) -> Method:
    @operation(query=ONLY_A_PAGE, says=says, responses=page_of(UsedWord))
    def list_(view: ProjectViewSet, request: Request, slug: str) -> Response:
        found = view.filtered(words_of(words, view.project_id))
        return view.listed(Page.of(list_words(found, **view.query)))

    return list_


class TagViewSet(ProjectViewSet):
    filters = {"list": WordFilter}
    queryset = Tag.unscoped.none()

    list = used_words(Tag, "Tags, most used first.")


class ScopeViewSet(ProjectViewSet):
    filters = {"list": WordFilter}
    queryset = Scope.unscoped.none()

    list = used_words(Scope, "Scopes, most used first.")


class CategoryViewSet(ProjectViewSet):
    filters = {"list": WordFilter}
    queryset = Category.unscoped.none()

    list = used_words(Category, "Categories of constraints, most used first.")


class LayerViewSet(ProjectViewSet):
    filters = {"list": LayerFilter}
    queryset = Layer.unscoped.none()
    scopes = {"create": ADMIN}

    @operation(query=ONLY_A_PAGE, responses=page_of(UsedWord))
    def list(self, request: Request, slug: str) -> Response:
        """Layers, in the project's order."""
        return self.listed(Page.of(list_words(self.filtered(layers_of(self.project_id)), **self.query)))

    @operation(body=Takes(AddLayer, example={"name": "documentation"}), responses={201: LayerName})
    def create(self, request: Request, slug: str) -> Response:
        """Add a layer, below those there are. An administrator's."""
        return Response(
            self.once(lambda: {"name": add_layer(caller=self.caller, **self.body).name}), status=201
        )
