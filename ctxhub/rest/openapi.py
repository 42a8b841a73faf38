"""The OpenAPI document at /api/schema/, in YAML or JSON."""

from functools import cache
from typing import Any

from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework.request import Request


class Schema(SpectacularAPIView):
    """Answers the document, which is the same for everybody: a process makes each form of it once.

    Anybody may ask, and making it takes half a second of the processor.
    """

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        renderer = request.accepted_renderer
        charset = f"; charset={renderer.charset}" if renderer.charset else ""
        return HttpResponse(
            _document(renderer.format),
            content_type=f"{renderer.media_type}{charset}",
            headers={"Content-Disposition": f'inline; filename="ctxhub.{renderer.format}"'},
        )


@cache
def _document(form: str) -> bytes:
    """Return the document as json or yaml."""
    renderer = OpenApiJsonRenderer() if form == "json" else OpenApiYamlRenderer()
    document: bytes = renderer.render(SchemaGenerator().get_schema(public=True))  # type: ignore[no-untyped-call]
    return document
