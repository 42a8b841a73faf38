"""REST views of leases: list, detail, acquire, renew and release."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from ctxhub.core.api.answers import page_of
from ctxhub.core.api.pages import Page
from ctxhub.core.api.takes import takes
from ctxhub.core.api.views import ProjectViewSet
from ctxhub.core.hub.partial_reads import Opened
from ctxhub.core.kit.caller import WRITE
from tracking.selectors import leases as selectors
from tracking.services import leases as services
from tracking.services.granting import LeaseAnswer, LeasedAnswer


class Leased(selectors.Lease, LeasedAnswer):
    """A lease, and what the write answers beside it."""


class Renewed(selectors.Lease, LeaseAnswer):
    """A lease, and what the write answers beside it."""


class LeaseViewSet(ProjectViewSet):
    queries = {
        "list": takes("file", "leases"),
        "destroy": takes("file", "release", without=["lease_id", "paths", "all"]),
    }
    bodies = {
        "create": takes("file", "lease"),
        "partial_update": takes("file", "renew", without=["lease_id"]),
    }
    scopes = {"destroy": WRITE}

    @extend_schema(responses=page_of(selectors.ListedLease))
    def list(self, request: Request, slug: str) -> Response:
        """Live leases, soonest to expire first."""
        return self.listed(Page.of(selectors.list_leases(self.project_id, **self.query)))

    @extend_schema(responses={200: Leased, 201: Leased})
    def create(self, request: Request, slug: str) -> Response:
        """Reserve paths, or extend your live lease on them (200); 409 names who holds what until when."""
        answer = self.write(services.acquire_lease, **self.body)
        return Response(answer, status=201 if answer["result"] == "created" else 200)

    @extend_schema(responses=selectors.Lease)
    def retrieve(self, request: Request, slug: str, lease_id: int) -> Response:
        """One lease, also one that has ended."""
        item = selectors.lease_item(selectors.get_lease(self.project_id, lease_id))
        return Response(self.opened(Opened(item, kind="lease")))

    @extend_schema(responses=Renewed)
    def partial_update(self, request: Request, slug: str, lease_id: int) -> Response:
        """Renew your live lease: it lasts that long from now."""
        renewed = {"lease_id": lease_id, **self.body}
        return Response(self.write(services.renew_lease, **renewed))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, lease_id: int) -> Response:
        """Release your lease; with `force` another agent's."""
        arguments = {"lease_id": lease_id, **self.query}
        self.perform(services.release_leases, **arguments)
        return Response(status=204)

    def item_of(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        return selectors.lease_item(selectors.get_lease(self.project_id, answer["lease_id"]))


class ReleaseViewSet(ProjectViewSet):
    bodies = {"create": takes("file", "release", example={"all": True})}

    @extend_schema(responses={200: services.ReleaseAnswer})
    def create(self, request: Request, slug: str) -> Response:
        """Release all your leases, or one."""
        return Response(self.perform(services.release_leases, **self.body))
