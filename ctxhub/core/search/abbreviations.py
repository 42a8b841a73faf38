"""The field's abbreviations, and what they stand for: who asks for one finds the other."""

from collections.abc import Mapping, Sequence

from ctxhub.core.search.stems import stem

# A short form, and what it is short for; several words are found side by side. Forms that are English words
# of their own (win, del, sub) are left out, and so are those that stand for too much to tell.
_TABLE = """
a11y: accessibility
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
fn: function
fs: file system, filesystem
func: function
gen: generation
gql: graphql
gw: gateway
hw: hardware
i18n: internationalization
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
lib: library
lvl: level
max: maximum
mem: memory
mfa: multi factor
mgmt: management
mgr: manager
min: minimum
mq: message queue
msg: message
mw: middleware
nav: navigation
num: number
o11y: observability
obj: object
org: organization
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
ref: reference
regex: regular expression
repl: replication
repo: repository
req: request, requirement
resp: response
rev: revision
sched: scheduler
seq: sequence
sess: session
sig: signature
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
val: value
var: variable
vm: virtual machine
vol: volume
ws: websocket, workspace
2fa: two factor
"""

Words = tuple[str, ...]


def meanings(word: str) -> Sequence[Words]:
    """What else a stem is written as: each some stems side by side."""
    return _MEANINGS.get(word, ())


def long_form(word: str) -> str:
    """What a stem is short for, if that is one word; else the stem itself."""
    return _LONG_FORMS.get(word, word)


def written_forms(word: str) -> tuple[Words, ...]:
    """A stem, and the single words that it may stand as: `authent` also as `auth`."""
    return ((word,), *(words for words in meanings(word) if len(words) == 1))


def _read(table: str) -> Mapping[str, Sequence[Words]]:
    """What each short form is short for, in stems."""
    lines = (line.partition(": ") for line in table.split("\n") if line)
    return {
        stem(short): [tuple(map(stem, one.split())) for one in long.split(", ")] for short, _, long in lines
    }


def _both_ways(long: Mapping[str, Sequence[Words]]) -> Mapping[str, Sequence[Words]]:
    """What a word is short for, is abbreviated as, and what else is short for the same (conf, cfg)."""
    shorts: dict[Words, list[str]] = {}
    for short, some in long.items():
        for words in some:
            shorts.setdefault(words, []).append(short)
    found: dict[str, dict[Words, None]] = {}
    for words, its_shorts in shorts.items():
        forms: list[Words] = [words, *((short,) for short in its_shorts)]
        for word in [*its_shorts, *(words if len(words) == 1 else ())]:
            found.setdefault(word, {}).update((form, None) for form in forms if form != (word,))
    return {word: tuple(others) for word, others in found.items()}


_LONG = _read(_TABLE)
# As they are written, for a mistyped one to be told.
LONG_WORDS = frozenset(
    meaning
    for line in _TABLE.split("\n")
    for meaning in line.partition(": ")[2].split(", ")
    if meaning.isalpha()
)
_MEANINGS = _both_ways(_LONG)
_LONG_FORMS = {
    short: words[0][0] for short, some in _LONG.items() if (words := [one for one in some if len(one) == 1])
}
