"""Registers the tool `message`."""

import messaging.tools.messages
