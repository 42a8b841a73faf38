"""Admin pages for files, their changes and leases."""

from tracking.admin import changes, leases, needs, overview, resources, timeline

__all__ = ["changes", "leases", "needs", "overview", "resources", "timeline"]
