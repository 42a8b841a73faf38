"""Imports the models of core, where Django looks for them."""

from ctxhub.core.accounts.models import (
    AccessToken,
    Agent,
    HeardSession,
    Invitation,
    Membership,
    Preference,
    Project,
    RequestCount,
    SignInFailure,
    Visit,
)
from ctxhub.core.bin.models import BinItem, BinPart
from ctxhub.core.enrolment.models import Enrolment
from ctxhub.core.events.models import Event, Tally
from ctxhub.core.paths.models import PathPattern, StaleCursor
from ctxhub.core.records.models import HubRecord
from ctxhub.core.refusals.models import Refusal
from ctxhub.core.search.models import SearchEntry, SearchText, SearchWord, TermCount
from ctxhub.core.transfer.models import Import, Origin
from ctxhub.core.use.models import EmptySearch, TokenUse
from ctxhub.core.vocabulary.models import Category, Layer, Scope, Tag
from ctxhub.core.webhooks.models import Webhook, WebhookDelivery
from ctxhub.toolbox.models import StoredAnswer
