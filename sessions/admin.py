"""Registers the admin pages and panels of the sessions app."""

import sessions.accesses.admin
import sessions.accesses.file_panels
import sessions.briefings.admin.agent_panel
import sessions.briefings.admin.briefings
import sessions.briefings.admin.never_given
import sessions.briefings.admin.readers
import sessions.sittings.admin
import sessions.windows.agent_panel
