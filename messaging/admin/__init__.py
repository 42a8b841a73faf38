"""Registers the admin pages of messages."""

import messaging.admin.agent_panels
import messaging.admin.messages
import messaging.admin.needs
import messaging.admin.overview
import messaging.admin.timeline
