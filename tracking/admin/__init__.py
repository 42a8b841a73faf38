"""Admin pages for files, their changes and leases."""

from tracking.admin import changes, leases, overview, resources, timeline

__all__ = ["changes", "leases", "overview", "resources", "timeline"]
