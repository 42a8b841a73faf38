"""Registers the admin pages of messages."""

import messaging.agent_panels
import messaging.messages.admin
import messaging.messages.needs
import messaging.overview
import messaging.timeline
