"""Registers the admin pages of files, their changes and leases."""

import tracking.admin.agent_panel
import tracking.admin.changes
import tracking.admin.leases
import tracking.admin.needs
import tracking.admin.overview
import tracking.admin.resources
import tracking.admin.timeline
