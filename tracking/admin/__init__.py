"""Admin pages for files, their changes and leases."""

from tracking.admin import agent_panel, changes, leases, needs, overview, resources, timeline

__all__ = ["agent_panel", "changes", "leases", "needs", "overview", "resources", "timeline"]
