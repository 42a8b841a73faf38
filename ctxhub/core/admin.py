"""Registers the admin pages of core."""

import ctxhub.console.access_tokens
import ctxhub.console.agents
import ctxhub.console.data
import ctxhub.console.events
import ctxhub.console.invitations
import ctxhub.console.links
import ctxhub.console.needs.tokens
import ctxhub.console.people
import ctxhub.console.projects
import ctxhub.console.refusals
import ctxhub.console.sign_in
import ctxhub.console.stale
import ctxhub.console.use.admin
import ctxhub.console.vocabulary
import ctxhub.core.bin.admin
import ctxhub.core.webhooks.admin
