"""Registers the admin pages and panels of the sessions app."""

import sessions.accesses.admin
import sessions.accesses.file_panels
import sessions.given.admin
import sessions.given.never_given
import sessions.given.panels
import sessions.sittings.admin
import sessions.windows.agent_panel
