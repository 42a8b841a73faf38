"""REST view of the search over lines of files."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from memory.memories.api.memory_schemas import Hits
from memory.memories.selectors.grep import grep


class Line(serializers.Serializer[Mapping[str, Any]]):
    file = serializers.CharField()
    line = serializers.IntegerField(help_text="Its number, from 1.")
    text = serializers.CharField(allow_blank=True, help_text="Up to 300 characters around the hit.")
    before = serializers.ListField(child=serializers.CharField(allow_blank=True))
    after = serializers.ListField(child=serializers.CharField(allow_blank=True))


class GrepAnswer(Hits):
    items = Line(many=True, help_text="In the order of files and lines.")
    total = serializers.IntegerField(help_text="How many lines match, counted to 1,000.")
    more = serializers.BooleanField(required=False, help_text="There are more than `total`.")
    files = serializers.IntegerField(help_text="How many files they are in.")
    truncated = serializers.BooleanField(
        required=False, help_text="There was more to look at than two seconds allow."
    )


class GrepViewSet(ProjectViewSet):
    queries = {"search": takes("memory", "grep")}

    @extend_schema(responses=GrepAnswer, filters=True)
    def search(self, request: Request, slug: str) -> Response:
        """Lines of the project's files that match a regular expression, where an administrator allows it."""
        return self.listed(Page.of(grep(self.caller.project, **self.query)))
