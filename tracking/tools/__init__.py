"""Registers the tool `file`: changes first, then leases."""

import tracking.tools.changes
import tracking.tools.leases
