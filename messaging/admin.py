"""Registers the admin pages of messages, and what pages of others show of them."""

import messaging.messages.admin
from ctxhub.console import dashboard
from ctxhub.console.agents import AgentButton, agent_buttons, agent_links
from ctxhub.console.away.sources import kinds, waiting
from ctxhub.console.navigation import own_places
from ctxhub.console.needs.sources import sources as needs
from ctxhub.console.row_panels import row_panels
from ctxhub.console.silence import awaited
from ctxhub.console.timeline.sources import sources as timeline
from ctxhub.core.kit.caller import WRITE
from messaging.agent_panels import inbox_of, mail_panel, owed_panel, write_url
from messaging.messages.needs import overdue_acknowledgements, owes_overdue, unclaimed_requests
from messaging.overview import SENT, message_amounts
from messaging.questions.page import for_you_context, menu_item, senders_who_wait
from messaging.timeline import sent_messages

dashboard.inventory.append(message_amounts)
kinds.append(SENT)
waiting.append(senders_who_wait)
dashboard.for_you.append(for_you_context)
own_places.append(menu_item)
needs += [overdue_acknowledgements, unclaimed_requests]
timeline.append(sent_messages)
row_panels += [owed_panel, mail_panel]
agent_links.append(inbox_of)
awaited.append(owes_overdue)
agent_buttons.append(AgentButton("Write", "edit", WRITE, write_url))
