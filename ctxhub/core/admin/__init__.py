"""The admin: pages for people, on Django's admin with the unfold theme."""

import ctxhub.core.admin.access_tokens
import ctxhub.core.admin.agents
import ctxhub.core.admin.data
import ctxhub.core.admin.events
import ctxhub.core.admin.invitations
import ctxhub.core.admin.links
import ctxhub.core.admin.needs.tokens
import ctxhub.core.admin.people
import ctxhub.core.admin.projects
import ctxhub.core.admin.refusals
import ctxhub.core.admin.sign_in
import ctxhub.core.admin.stale
import ctxhub.core.admin.use.admin
import ctxhub.core.admin.vocabulary
import ctxhub.core.bin.admin
import ctxhub.core.webhooks.admin
