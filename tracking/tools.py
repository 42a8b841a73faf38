"""Registers the tool `file`: changes first, then leases."""

import tracking.changes.tools
import tracking.leases.tools
