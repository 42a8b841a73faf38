"""Registers the tool `message`."""

import messaging.messages.tools
