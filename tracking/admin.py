"""Registers the admin pages of files, their changes and leases, and what pages of others show of them."""

import tracking.changes.admin
import tracking.files.admin
import tracking.leases.admin
from ctxhub.console.away.sources import kinds
from ctxhub.console.dashboard import inventory
from ctxhub.console.needs.sources import sources as needs
from ctxhub.console.row_panels import row_panels
from ctxhub.console.silence import awaited
from ctxhub.console.timeline.sources import sources as timeline
from tracking.leases.agent_panel import held_panel
from tracking.leases.needs import full_holders, silent_holders
from tracking.leases.silence import others_were_refused
from tracking.overview import CHANGED, file_amounts
from tracking.timeline import leases_and_changes

inventory.append(file_amounts)
kinds += CHANGED
needs += [silent_holders, full_holders]
timeline.append(leases_and_changes)
row_panels.append(held_panel)
awaited.append(others_were_refused)
