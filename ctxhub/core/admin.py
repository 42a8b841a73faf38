"""Registers the admin pages of core, and what pages of others show of core."""

from django.contrib import admin

import ctxhub.console.access_tokens
import ctxhub.console.agents
import ctxhub.console.data
import ctxhub.console.events
import ctxhub.console.invitations
import ctxhub.console.people
import ctxhub.console.projects
import ctxhub.console.refusals
import ctxhub.console.sign_in
import ctxhub.console.stale
import ctxhub.console.use.admin
import ctxhub.console.vocabulary
import ctxhub.core.bin.admin
import ctxhub.core.webhooks.admin
from ctxhub.console import refs
from ctxhub.console.dashboard import inventory, own_amounts
from ctxhub.console.invitations import page_of_invitation
from ctxhub.console.links import links_panel
from ctxhub.console.namesakes import namesake_panel, namesakes
from ctxhub.console.needs.sources import sources as needs
from ctxhub.console.needs.tokens import tokens_that_expire
from ctxhub.console.refusals import refusals_panel, refused_agent_panel
from ctxhub.console.row_panels import row_panels
from ctxhub.console.sign_in import SignInForm
from ctxhub.console.stale import stale_amounts, stale_objects
from ctxhub.core.webhooks.admin import page_of_webhook, webhooks_that_were_switched_off

admin.site.login_form = SignInForm
inventory += [own_amounts, stale_amounts]
needs += [namesakes, tokens_that_expire, stale_objects, webhooks_that_were_switched_off]
row_panels += [namesake_panel, links_panel, refusals_panel, refused_agent_panel]
refs.pages |= {"invitation": page_of_invitation, "webhook": page_of_webhook}
