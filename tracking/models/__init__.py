from tracking.models.change import ChangeKind, FileChange
from tracking.models.lease import Lease, LeasePath
from tracking.models.resource import Resource

__all__ = ["ChangeKind", "FileChange", "Lease", "LeasePath", "Resource"]
