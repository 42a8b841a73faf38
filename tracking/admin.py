"""Registers the admin pages of files, their changes and leases."""

import tracking.changes.admin
import tracking.files.admin
import tracking.leases.admin
import tracking.leases.agent_panel
import tracking.leases.needs
import tracking.overview
import tracking.timeline
