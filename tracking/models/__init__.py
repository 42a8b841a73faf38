from tracking.models.change import ChangeKind, FileChange
from tracking.models.lease import Lease, LeasePath
from tracking.models.resource import AccessKind, FileContent, Resource, ResourceType

__all__ = [
    "AccessKind",
    "ChangeKind",
    "FileChange",
    "FileContent",
    "Lease",
    "LeasePath",
    "Resource",
    "ResourceType",
]
