"""Forms of keys and places of credentials. Values are made at run time: the repository holds none."""

import base64
import hashlib
import re
from itertools import chain

import pytest

from ctxhub.core.text.secret_formats import SHAPED, STRONG, WEAK
from ctxhub.core.text.secrets import find_secret, mask_secrets

SMALL = "abcdefghijklmnopqrstuvwxyz"
LETTERS, DIGITS = SMALL + SMALL.upper(), "0123456789"


def some(length: int, alphabet: str = LETTERS + DIGITS, seed: str = "") -> str:
    """Characters of an alphabet that look random, the same in every run."""
    blocks = (hashlib.sha512(f"{seed}{alphabet}{n}".encode()).digest() for n in range(length // 64 + 1))
    return "".join(alphabet[byte % len(alphabet)] for byte in chain(*blocks))[:length]


def hexadecimal(length: int, seed: str = "") -> str:
    return some(length, DIGITS + "abcdef", seed)


def word(length: int, seed: str = "") -> str:
    """Of base64url; it neither begins nor ends with a sign."""
    return some(1, LETTERS, seed) + some(length - 2, LETTERS + DIGITS + "-_", seed) + some(1, DIGITS, seed)


def uuid(seed: str = "") -> str:
    return "-".join(hexadecimal(length, seed) for length in (8, 4, 4, 4, 12))


def encoded(length: int) -> str:
    return base64.b64encode(hashlib.shake_256(b"no secret").digest(length)).decode()


KEYS = {
    "1Password": "ops_eyJ" + some(300),
    "1Password secret key": "A3-" + "-".join(some(n, LETTERS.upper() + DIGITS) for n in (6, 11, 5, 5, 5)),
    "Airtable": "pat" + some(14) + "." + hexadecimal(64),
    "Artifactory": "AKCp" + some(69),
    "Atlassian": "ATATT3xFfGF0" + word(170) + "=" + hexadecimal(8).upper(),
    "Azure client": some(3) + "8Q~" + word(34),
    "Bedrock": "ABSK" + encoded(96),
    "Bitbucket": "ATBB" + some(32),
    "Bitbucket access": "ATCTT3xFfGN0" + word(170),
    "Braintree": "access_token$production$" + some(16, SMALL + DIGITS) + "$" + hexadecimal(32),
    "Buildkite": "bkua_" + hexadecimal(40),
    "CircleCI": "CCIPAT_" + some(22) + "_" + hexadecimal(40),
    "Cloudflare origin": "v1.0-" + hexadecimal(24) + "-" + hexadecimal(146),
    "Cloudflare": "cfut_" + some(40) + hexadecimal(8),
    "Databricks": "dapi" + hexadecimal(32),
    "Discord bot": "M" + some(23) + "." + word(6) + "." + word(38),
    "Discord bot of late": "MTA" + some(23) + "." + word(6) + "." + word(38),
    "Docker organisation": "dckr_oat_" + word(32),
    "Doppler": "dp.pt." + some(43),
    "Doppler service": "dp.st.dev_main." + some(43),
    "Dropbox": "sl.u." + word(140),
    "Dynatrace": "dt0c01." + some(24, LETTERS.upper()) + "." + some(64, LETTERS.upper() + "234567"),
    "Figma": "figd_" + word(40),
    "Firecrawl": "fc-" + hexadecimal(32),
    "Fireworks": "fw_" + some(24),
    "Fly.io": "FlyV1 fm2_" + encoded(150),
    "Fly.io older": "fo1_" + word(43),
    "Gemini": "AQ.Ab8" + word(47),
    "GitLab runner": "glrt-t1_" + word(27),
    "GitLab runner of old": "GR1348941" + word(20),
    "Google access": "ya29." + word(180),
    "Google client": "GOCSPX-" + word(28),
    "Grafana of old": "eyJrIjoi" + some(80),
    "Harness": "pat." + word(22) + "." + hexadecimal(24) + "." + some(20),
    "Heroku": "HRKU-" + uuid(),
    "Heroku of late": "HRKU-AA" + word(58),
    "HubSpot": "pat-na1-" + uuid(),
    "Langfuse": "sk-lf-" + uuid(),
    "LangSmith": "lsv2_pt_" + hexadecimal(32) + "_" + hexadecimal(10),
    "LaunchDarkly": "sdk-" + uuid(),
    "Linear OAuth": "lin_oauth_" + hexadecimal(64),
    "Mailchimp": hexadecimal(32) + "-us12",
    "Mailgun": "key-" + hexadecimal(32),
    "Mapbox": "sk.eyJ" + some(70) + "." + word(22),
    "Meta": "EAACEdEose0cBA" + some(150),
    "Modal": "ak-" + some(22),
    "Neon": "napi_" + some(64),
    "Netlify": "nfp_" + some(36),
    "New Relic": "NRAK-" + some(27, LETTERS.upper() + DIGITS),
    "Notion": "ntn_" + some(11, DIGITS) + some(35),
    "Notion of old": "secret_" + some(43),
    "npm": "npm_" + some(36),
    "NuGet": "oy2" + some(43, SMALL + DIGITS),
    "NVIDIA": "nvapi-" + word(64),
    "OpenRouter": "sk-or-v1-" + hexadecimal(64),
    "OpenShift": "sha256~" + word(43),
    "a gateway": "sk-litellm-" + some(40),
    "Perplexity": "pplx-" + some(48),
    "Pinecone": "pcsk_" + some(6) + "_" + some(63),
    "Plaid": "access-production-" + uuid(),
    "PlanetScale": "pscale_tkn_" + word(43),
    "PostHog": "phx_" + some(43),
    "Postman": "PMAK-" + hexadecimal(24) + "-" + hexadecimal(34),
    "Prefect": "pnu_" + some(36),
    "Pulumi": "pul-" + hexadecimal(40),
    "ReadMe": "rdme_" + some(70, SMALL + DIGITS),
    "Replicate": "r8_" + some(37),
    "Resend": "re_" + some(8) + "_" + some(24),
    "RubyGems": "rubygems_" + hexadecimal(48),
    "Sentry": "sntrys_" + encoded(80) + "_" + some(43),
    "Shopify shared": "shpss_" + hexadecimal(32),
    "Slack app": "xapp-1-A" + some(10, LETTERS.upper()) + "-" + some(13, DIGITS) + "-" + hexadecimal(64),
    "SonarQube": "squ_" + hexadecimal(40),
    "Sourcegraph": "sgp_" + hexadecimal(16) + "_" + hexadecimal(40),
    "Square": "EAAA" + word(60),
    "Square application": "sq0csp-" + word(43),
    "Stripe webhook": "whsec_" + some(32),
    "Svix webhook": "whsec_" + encoded(24),
    "Supabase": "sbp_" + hexadecimal(40),
    "Supabase secret": "sb_secret_" + word(22) + "_" + some(8),
    "Tailscale": "tskey-auth-k" + some(11) + "CNTRL-" + some(32),
    "Tavily": "tvly-dev-" + some(32),
    "Terraform": some(14) + ".atlasv1." + word(67),
    "Together": "tgp_v1_" + word(43),
    "Typeform": "tfp_" + word(59),
    "Vercel": "vcp_" + some(56),
    "xAI": "xai-" + some(80),
    "crates.io": "cio" + some(32),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_goes_whole_wherever_it_stands(name: str) -> None:
    key = KEYS[name]

    for before, after in (
        ("", ""),
        ("Deploy with ", " tomorrow."),
        ('{"a": "', '"}'),
        ("\\n", "\\n"),
        ("用", "。"),
    ):
        masked, count = mask_secrets(before + key + after)
        assert count == 1
        assert re.fullmatch(re.escape(before) + r"(FlyV1 )?\[credential: .+]" + re.escape(after), masked), (
            masked
        )


ROWS = [
    (kind, prefix + hexadecimal(least, prefix))
    for kind, prefixes, _, least in (*STRONG, *WEAK)
    for prefix in prefixes.split()
]


@pytest.mark.parametrize(("kind", "key"), ROWS)
def test_each_row_of_an_alphabet_is_found(kind: str, key: str) -> None:
    found = find_secret(f"It is {key}, as far as I know.")

    assert found is not None
    assert (found.kind, found.start) == (kind, len("It is "))


def test_prefixes_are_written_as_the_look_up_needs_them() -> None:
    names = [row[1] for row in (*STRONG, *WEAK)] + [row[1] for row in SHAPED]
    prefixes = [prefix for each in names for prefix in each.split()]

    assert [prefix for prefix in prefixes if len(prefix) < 3 or prefix[-1] not in "_-.~"] == []


# -- Places ----------------------------------------------------------------------------------------

MIXED = some(20)
PUTTY = "\n".join(
    [
        "PuTTY-User-Key-File-3: ssh-ed25519",
        "Encryption: none",
        "Comment: ada",
        "Public-Lines: 2",
        some(64, seed="public"),
        some(40, seed="public"),
        "Private-Lines: 2",
        some(64),
        some(44),
        f"Private-MAC: {hexadecimal(64)}",
    ]
)
SIGNATURE = encoded(32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
LOGIN = base64.b64encode(f"ada:{MIXED}".encode()).decode()

PLACES = [
    ("EXA_API_KEY=", uuid(), "\n"),
    ("export RAILWAY_TOKEN=", uuid(), ""),
    ('EXA_KEY="', uuid(), '"'),
    ("CLIENT_SECRET=", uuid(), " run"),
    ('{"api_key": "', uuid(), '"}'),
    ("//npm.example/:_authToken=", uuid(), "\n"),
    ("//npm.example.org/:_authToken=", hexadecimal(20), ""),
    ("_auth=", LOGIN, "\n"),
    ('{"auths": {"ghcr.io": {"auth": "', LOGIN, '"}}}'),
    ("https://a.blob.core.windows.net/c/b?sv=2022-11-02&sr=b&sig=", SIGNATURE, "&sp=r"),
    ("https://b.s3.amazonaws.com/o?X-Amz-Expires=60&X-Amz-Signature=", hexadecimal(64), ""),
    ("db.example.net:5432:shop:ada:", "sword" + "fish", "\n"),
    ("*:*:*:postgres:", MIXED, ""),
    ("ada:", "$apr1$" + some(8) + "$" + some(22), "\n"),
    ("ada:", "$2y$05$" + some(53), ""),
    ("ada:", "{SHA}" + encoded(20), "\n"),
    ("root:", "$6$" + some(16) + "$" + some(86), ":19000:0:99999:7:::"),
    ("Cookie: theme=dark; sessionid=", some(32, SMALL + DIGITS), "; lang=en"),
    ("curl -H 'Cookie: PHPSESSID=", some(26, SMALL + DIGITS), "' localhost"),
    ("Set-Cookie: connect.sid=", "s%3A" + word(32) + "." + some(43), "; HttpOnly"),
    ("Authorization: SSWS ", "00" + word(40), "\n"),
    ("Authorization: GenieKey ", uuid(), ""),
    ("Authorization: Bearer ", uuid(), ""),
    ("Authorization: ", some(40), ""),
    ("authorization: Klaviyo-API-Key ", hexadecimal(40), "\n"),
    ("Authorization: Token token=", hexadecimal(32), ""),
    ("https://discord.com/api/webhooks/", some(18, "123456789") + "/" + word(68), ""),
    (
        "https://a.webhook.office.com/webhookb2/",
        f"{uuid()}@{uuid()}/IncomingWebhook/{hexadecimal(32)}/{uuid()}",
        "",
    ),
    ("https://hooks.slack.com/workflows/", f"T{MIXED[:9]}/A{MIXED[:9]}/{some(18, DIGITS)}/{some(24)}", ""),
    ("  password: '", "correct-horse-" + "battery-9", "'\n"),
    ('{"password": "', "blue-whale-" + "42", '"}'),
    ("The admin password is ", "P@ssw0" + "rd-2024", " for now."),
    ("The admin password is ", "Winter" + "#99", ""),
    ("the admin password is: ", "correct-Horse" + "_9", ""),
    ("La password è ", "Tr0ub4" + "dor&3", ""),
    ("Hasło administratora to ", "Zim4!" + "2024", "."),
    ("Şifre: ", "Tr0ub4" + "dor&3", ""),
    ("Lösenordet är ", "Tr0ub4" + "dor&3", ""),
    ("Пароль администратора: ", "Tr0ub4" + "dor&3", ""),
    ("管理员密码是", "Abc!2" + "345x", "。"),
]


@pytest.mark.parametrize(("before", "value", "after"), PLACES)
def test_a_value_in_its_place_goes_and_the_rest_stays(before: str, value: str, after: str) -> None:
    masked, count = mask_secrets(before + value + after)

    assert count == 1
    assert re.fullmatch(re.escape(before) + r"\[credential: .+]" + re.escape(after), masked), masked
    assert find_secret(masked) is None


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\\n"])
def test_the_private_part_of_a_putty_key_goes(line_break: str) -> None:
    masked, count = mask_secrets(PUTTY.replace("\n", line_break) + line_break + "And so on.")

    public = line_break.join(PUTTY.split("\n")[:6])
    assert (masked, count) == (f"{public}{line_break}[credential: PuTTY key]{line_break}And so on.", 1)


# -- What only resembles them ------------------------------------------------------------------------

HARMLESS = [
    "ghp_" + "x" * 36,
    "ghp_" + "X" * 36,
    "ghp_your_token_goes_here",
    "sk-...",
    "sk-ant-api03-" + "x" * 60,
    "xoxb-your-token-here-and-more-letters-1",
    "AIzaSy" + "X" * 33,
    "token: <token>, password: changeme, key: $TOKEN, secret: ${{ secrets.X }}",
    "AKIAIOSFODNN7" + "EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "https://hooks.slack.com/services/T00000000/B00000000/" + "X" * 24,
    *(
        f"postgres://user:{password}@127.0.0.1/dev"
        for password in ("password", "dev", "test", "example", "local", "dev-password", "localdev")
    ),
    f"Fixed in {hexadecimal(40)}; its tree is {hexadecimal(64)}, image sha256:{hexadecimal(64)}.",
    f'{{"id": "{uuid()}", "token": "{uuid()}"}}, REQUEST_ID={uuid()}',
    f"IDEMPOTENCY_KEY={uuid()}",
    "data:image/png;base64," + encoded(3_000),
    "data:image/png;base64," + base64.b64encode(bytes(3_000)).decode(),
    f"ssh-rsa AAAAB3NzaC1yc2E{some(300)} ada@example.org",
    f"-----BEGIN CERTIFICATE-----\n{some(64)}\n-----END CERTIFICATE-----",
    "-----BEGIN PRIVATE" + " KEY-----\n...\n-----END PRIVATE" + " KEY-----",
    # Words that begin as keys do.
    "re_rank_results, key-value-store, cio-meeting, fc-cache, secret_name, pat. in prose, The pat. office",
    "re_rank_results_of_the_search_engine_with_long_names2",
    "secret_name_of_the_kubernetes_object_in_staging_2, cio-meeting-notes-2024-11-26",
    "sk-estimator-checks-and-other-things, pplx-70b-online-and-other-model-names, key-0123, AQ. and A.",
    "pa-system, ak-47, as-is, md-button-with-ripple-effect, pul-request, live_stream_url",
    "secret-live-reload-is-a-feature-of-the-dev-server-2, r8_quantised_model_with_long_name_and_number_8",
    # Identifiers that are public.
    f"pk_live_{some(24)}, phc_{some(43)}, price_{some(24)}, msg_01{some(22)}",
    f"pk-lf-{uuid()}, sq0idp-{word(22)}",
    # Placeholders and other things in the places.
    "//npm.example/:_authToken=${NPM_TOKEN}",
    '{"auth": "oauth2"}, "auth": "bmV0d29yaw=="',
    "https://a.blob.core.windows.net/c/b?sig=<signature>",
    "hostname:port:database:username:password, *:*:*:*:password, host:5432:db:user:password",
    "src/a.py:1042:def:read2file:bad2word, 12:30:45:12:ab1cd2",
    "Cookie: sessionid=<id>; theme=dark, Cookie: sessionid=abc",
    "Cookie: csrftoken=" + some(32),
    "Authorization: SSWS ${OKTA_TOKEN}, Authorization: GenieKey <key>",
    "password: 'see-the-vault-2', password: 'rotate-every-90-days', password: 'min-length-12'",
    "The admin password is rotated every 90 days, is kept in 1Password, is SHA256-hashed.",
    "The admin password is at least 12-characters-long.",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_resembles_a_key_is_none(text: str) -> None:
    assert find_secret(text) is None
