"""Registers the admin pages of the sessions app, and what pages of others show of it."""

import sessions.accesses.admin
import sessions.given.admin
import sessions.sittings.admin
from ctxhub.console.agents import agent_links
from ctxhub.console.row_panels import row_panels
from ctxhub.console.use.page import unread
from sessions.accesses.file_panels import accesses_panel, dependencies_panel
from sessions.given.admin import briefings_of
from sessions.given.never_given import find_never_given
from sessions.given.panels import given_panel, readers_panel
from sessions.windows.agent_panel import sessions_panel
from tracking.files.admin import file_panels

row_panels += [given_panel, readers_panel, sessions_panel]
file_panels += [accesses_panel, dependencies_panel]
agent_links.append(briefings_of)
unread.append(find_never_given)
