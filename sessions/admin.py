"""Registers the admin pages and panels of the sessions app."""

import sessions.briefings.admin.agent_panel
import sessions.briefings.admin.briefings
import sessions.briefings.admin.never_given
import sessions.briefings.admin.readers
import sessions.sittings.admin.accesses
import sessions.sittings.admin.agent_panel
import sessions.sittings.admin.file_panels
import sessions.sittings.admin.sessions
