"""Common abbreviations and their long forms. A search for one also finds the other."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ctxhub.core.search.stems import stem
from ctxhub.core.search.stop_words import SURFACE

# A short form and its long forms; several words are matched as a phrase. Short forms that are also English
# words (win, del, sub) are left out, and so are ambiguous ones.
_TABLE = """
a11y: accessibility
acl: access control list
addr: address
admin: administrator, administration
app: application
arch: architecture
arg: argument
async: asynchronous
attr: attribute
auth: authentication
authn: authentication
authz: authorization
avg: average
bg: background
btn: button
buf: buffer
calc: calculation
cd: continuous delivery, continuous deployment
cert: certificate
cfg: configuration
ci: continuous integration
cli: command line
cmd: command
col: column
conf: configuration
config: configuration
conn: connection
const: constant
coord: coordinate
ctrl: controller
ctx: context
db: database
dep: dependency
desc: description
dest: destination
dev: development, developer
dir: directory
dist: distribution
doc: documentation
elem: element
env: environment
err: error
evt: event
exec: execution
expr: expression
ext: extension
fmt: format
fe: frontend
fn: function
fs: file system, filesystem
func: function
gen: generation
gh: github
gql: graphql
gw: gateway
hw: hardware
i18n: internationalization
iac: infrastructure as code
idx: index
img: image
impl: implementation
info: information
infra: infrastructure
init: initialization
int: integer
iter: iteration
js: javascript
jwt: json web token
k8s: kubernetes
l10n: localization
lang: language
lb: load balancer
len: length
llm: language model
lib: library
lvl: level
max: maximum
mem: memory
mfa: multi factor
mgmt: management
mgr: manager
min: minimum
ml: machine learning
mq: message queue
msg: message
mw: middleware
nav: navigation
num: number
o11y: observability
obj: object
ops: operation
org: organization
orm: object relational mapper
otel: opentelemetry
os: operating system
param: parameter
perf: performance
perm: permission
pg: postgres, postgresql
pkg: package
pr: pull request
pref: preference
prev: previous
proc: process
prod: production
proj: project
pw: password
pwd: password
py: python
qa: quality assurance
qty: quantity
rbac: role based access control
ref: reference
regex: regular expression
repl: replication
repo: repository
req: request, requirement
resp: response
rpc: remote procedure call
rev: revision
sched: scheduler
seq: sequence
sess: session
sig: signature
sla: service level agreement
slo: service level objective
spec: specification
src: source
srv: server
sso: single sign on
std: standard
str: string
struct: structure
svc: service
sync: synchronization
sys: system
tbl: table
temp: temporary
tf: terraform
tmp: temporary
tmpl: template
tok: token
ts: typescript
ttl: time to live
tx: transaction
txn: transaction
tz: time zone, timezone
ui: user interface
usr: user
util: utility
ux: user experience
val: value
var: variable
vcs: version control
vm: virtual machine
vol: volume
ws: websocket, workspace
2fa: two factor
"""

Words = tuple[str, ...]


def meanings(word: str) -> Sequence[Words]:
    """Return the other forms of a stem, short or long; each is a phrase of stems."""
    return _meanings().get(word, ())


def short_forms(words: Words) -> Sequence[str]:
    """Return the abbreviations of adjacent words, as stems: `("user", "interfac")` is a `ui`."""
    return _short_forms().get(words, ())


def long_form(word: str) -> str:
    """Return the long form of a stem if that is one word, else the stem itself."""
    return _long_forms().get(word, word)


def written_forms(word: str) -> tuple[Words, ...]:
    """Return a stem and its other forms of one word: `authent` and `auth`."""
    return ((word,), *(words for words in meanings(word) if len(words) == 1))


@cache
def _meanings() -> Mapping[str, Sequence[Words]]:
    return _all_forms(_table())


@cache
def _short_forms() -> Mapping[Words, Sequence[str]]:
    """Return the short forms of the long forms of several words, without stop words: queries have none."""
    found: dict[Words, list[str]] = {}
    for short, _, long in _lines():
        for phrase in long.split(", "):
            words = tuple(stem(word) for word in phrase.split() if word not in SURFACE)
            if len(words) > 1:
                found.setdefault(words, []).append(stem(short))
    return found


@cache
def _long_forms() -> Mapping[str, str]:
    of_one_word = {short: [words for words in some if len(words) == 1] for short, some in _table().items()}
    return {short: words[0][0] for short, words in of_one_word.items() if words}


@cache
def _table() -> Mapping[str, Sequence[Words]]:
    """Return the long forms of each short form, as stems."""
    return {
        stem(short): [tuple(map(stem, words.split())) for words in long.split(", ")]
        for short, _, long in _lines()
    }


def _lines() -> Iterator[tuple[str, str, str]]:
    return (line.partition(": ") for line in _TABLE.split("\n") if line)


def _all_forms(long: Mapping[str, Sequence[Words]]) -> Mapping[str, Sequence[Words]]:
    """Return the long forms of a word, its short forms, and other short forms of the same (conf, cfg)."""
    short_forms: dict[Words, list[str]] = {}
    for short, phrases in long.items():
        for words in phrases:
            short_forms.setdefault(words, []).append(short)
    found: dict[str, dict[Words, None]] = {}
    for words, its_short_forms in short_forms.items():
        forms: list[Words] = [words, *((short,) for short in its_short_forms)]
        for word in [*its_short_forms, *(words if len(words) == 1 else ())]:
            found.setdefault(word, {}).update((form, None) for form in forms if form != (word,))
    return {word: tuple(others) for word, others in found.items()}


# Unstemmed, for spelling correction.
LONG_WORDS = frozenset(
    meaning
    for line in _TABLE.split("\n")
    for meaning in line.partition(": ")[2].split(", ")
    if meaning.isalpha()
)

# The words of the table that somebody may mistype: of long forms, and short forms that are no mere initials.
KNOWN_ABBREVIATED = tuple(
    sorted(
        {word for _, _, long in _lines() for word in re.findall("[a-z]{4,}", long)}
        | {short for short, _, _ in _lines() if re.fullmatch("[a-z]{5,}", short)}
    )
)
