"""Imports the models of all nouns, so that Django finds them."""

from tracking.changes.models import ChangeKind, FileChange
from tracking.files.models import AccessKind, FileContent, Resource, ResourceType
from tracking.leases.models import Lease, LeasePath
