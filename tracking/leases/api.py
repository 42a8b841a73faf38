"""REST views of leases: list, detail, acquire, renew and release."""

from typing import Any

from ctxhub.core.kit.caller import WRITE
from ctxhub.rest.answers import written
from ctxhub.rest.operations import CREATED_OR_FOUND, deletes, lists, performs, reads, writes
from ctxhub.rest.takes import takes
from ctxhub.rest.views import ProjectViewSet
from tracking.leases import queries
from tracking.leases.granting import LeaseAnswer, LeasedAnswer

Leased = written("Leased", LeasedAnswer, queries.Lease)
Renewed = written("Renewed", LeaseAnswer, queries.Lease)


class LeaseViewSet(ProjectViewSet):
    scopes = {"destroy": WRITE}
    kind, named_by = "lease", "lease_id"

    def item(self, lease_id: int) -> dict[str, Any]:
        return queries.lease_item(queries.get_lease(self.project_id, lease_id))

    list = lists(
        takes("file", "leases"),
        queries.ListedLease,
        by=queries.list_leases,
        orders=(["expires"], "expires"),
        says="Live leases, soonest to expire first.",
    )
    create = writes(
        takes("file", "lease"),
        Leased,
        statuses=CREATED_OR_FOUND,
        says="Reserve paths, or extend your live lease on them (200); 409 names who holds what until when.",
    )
    retrieve = reads(queries.Lease, kind="lease", says="One lease, also one that has ended.")
    partial_update = writes(
        takes("file", "renew", at="lease_id"),
        Renewed,
        says="Renew your live lease: it lasts that long from now.",
    )
    destroy = deletes(
        takes("file", "release", at="lease_id", without=["paths", "all"]),
        says="Release your lease; with `force` another agent's.",
    )


class ReleaseViewSet(ProjectViewSet):
    create = performs(
        takes("file", "release", example={"all": True}), says="Release all your leases, or one."
    )
