"""Values that look like credentials are put together at run time, so that no scanner finds them here."""

import base64
import hashlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctxhub.core.secrets import Secret, find_secret

CORPUS = sorted((Path(__file__).parent.parent / "corpus").glob("*.txt"))
DRAWN = hashlib.sha512(b"not a secret")
HEX = DRAWN.hexdigest()
MIXED = base64.b64encode(DRAWN.digest() * 2).decode().replace("+", "A").replace("/", "b").replace("=", "")
DIGITS = "1234567890" * 2
SIGNS = "!@#$%"


def segment(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


HEADER, CLAIMS = segment('{"typ":"JWT","alg":"HS256"}'), segment('{"sub":"ada"}')
JWT = f"{HEADER}.{CLAIMS}.{MIXED[:43]}"

ISSUED = [
    ("ctxhub token", "ctx" + "_" + MIXED[:40]),
    ("ctxhub token", "ctx" + "_-_" + MIXED[:38]),
    ("GitHub token", "ghp" + "_" + MIXED[:36]),
    ("GitHub token", "ghs" + "_" + MIXED[:36]),
    ("GitHub token", "github" + "_pat_" + MIXED[:22] + "_" + MIXED[:59]),
    ("GitLab token", "glpat" + "-" + MIXED[:20]),
    ("Slack token", "xoxb" + "-" + DIGITS[:12] + "-" + MIXED[:24]),
    ("Stripe key", "sk" + "_live_" + MIXED[:24]),
    ("Anthropic key", "sk" + "-ant-api03-" + MIXED[:93]),
    ("OpenAI key", "sk" + "-proj-" + MIXED[:74]),
    ("OpenAI key", "sk" + "-" + MIXED[:48]),
    ("Google API key", "AIza" + MIXED[:35]),
    ("npm token", "npm" + "_" + MIXED[:36]),
    ("PyPI token", "pypi" + "-AgEI" + MIXED[:80]),
    ("SendGrid key", "SG" + "." + MIXED[:22] + "." + MIXED[:43]),
    ("Twilio key", "SK" + HEX[:32]),
    ("Hugging Face token", "hf" + "_" + MIXED[:34]),
    ("DigitalOcean token", "dop" + "_v1_" + HEX[:64]),
    ("AWS access key", "AKIA" + HEX[:16].upper()),
    ("AWS access key", "ASIA" + HEX[:16].upper()),
    ("JSON Web Token", JWT),
]


@pytest.mark.parametrize(("kind", "value"), ISSUED)
def test_an_issued_key_is_found_where_it_starts(kind: str, value: str) -> None:
    assert find_secret(f"Deploy with {value} tomorrow.") == Secret(kind, len("Deploy with "))


@pytest.mark.parametrize("value", [value for _, value in ISSUED])
def test_an_issued_key_is_found_in_code_and_json_and_prose(value: str) -> None:
    for text in (
        value,
        f'"{value}"',
        f"KEY={value}\n",
        f'{{"a":["{value}"]}}',
        f"\\n{value}\\n",
        f"金鑰{value}。",
    ):
        assert find_secret(text), text


@pytest.mark.parametrize(
    ("kind", "before", "value", "after"),
    [
        ("Azure storage key", "AccountName=a;", "Account" + "Key=" + MIXED[:86] + "==", ";Endpoint=b"),
        ("Slack webhook", "https://hooks.slack.com/services/", f"T{HEX[:8]}/B{HEX[:8]}/{MIXED[:24]}", ""),
        ("password in a URL", "postgres://ada:", "hunter" + "2-and-more", "@db.internal:5432/hub"),
        ("password in a URL", "redis://:", MIXED[:16], "@127.0.0.1/0"),
        ("bearer token", "Authorization: Bearer ", MIXED[:32], "\n"),
        ("bearer token", '{"authorization":"bearer ', HEX[:40], '"}'),
        ("assigned secret", 'password = "', "Tr0ub4" + "dor&3-Horse", '"'),
        ("assigned secret", "DB_PASSWORD=", MIXED[:16], "\n"),
        ("assigned secret", '{"clientSecret": "', MIXED[:24], '"}'),
        ("assigned secret", "api_key: str = '", HEX[:32], "'"),
        ("assigned secret", "  api-key: ", HEX[:32], "\n"),
        ("assigned secret", '\\"password\\": \\"', "Xy7" + SIGNS + "Qw9-pL2", '\\"'),
        ("assigned secret", "aws_secret_access_key = ", "/".join([MIXED[:20], MIXED[20:39]]), "\n"),
        ("assigned secret", 'os.environ["GITHUB_TOKEN"] = "', MIXED[:40], '"'),
    ],
)
def test_a_value_is_found_where_credentials_stand(kind: str, before: str, value: str, after: str) -> None:
    assert find_secret(before + value + after) == Secret(kind, len(before))


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ("PRIVATE", ""),
        ("RSA PRIVATE", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"),
        ("OPENSSH PRIVATE", ""),
        ("PGP PRIVATE", "Version: 1\n\n"),
    ],
)
def test_a_private_key_is_found_however_its_lines_are_broken(kind: str, head: str) -> None:
    label = f"{kind} KEY{' BLOCK' if kind.startswith('PGP') else ''}"
    key = f"-----BEGIN {label}-----\n{head}{MIXED[:64]}\n"

    for line_break in ("\n", "\r\n", "\\n", "\n    "):
        assert find_secret("key:\n" + key.replace("\n", line_break)) == Secret("private key", 5)


def test_a_telegram_bot_token_is_found() -> None:
    token = DIGITS[:10] + ":AA" + MIXED[:33]

    found = find_secret(f"https://api.telegram.org/bot{token}/getMe")

    assert found is not None
    assert found.kind == "Telegram bot token"


def test_the_first_of_several_is_told() -> None:
    github, aws = "ghp" + "_" + MIXED[:36], "AKIA" + HEX[:16].upper()

    assert find_secret(f"{aws} and {github}") == Secret("AWS access key", 0)
    assert find_secret(f"{github} and {aws}") == Secret("GitHub token", 0)


def test_letters_that_change_length_in_lower_case_do_not_move_the_place() -> None:
    before = "İİİ password: "

    assert find_secret(f"{before}{MIXED[:16]}") == Secret("assigned secret", len(before))


@pytest.mark.parametrize(
    "password",
    [
        *(
            "${PASSWORD}",
            "$DB_PASSWORD",
            "{password}",
            "<password>",
            "%s",
            "%(password)s",
            "[redacted]",
            "...",
        ),
        *(
            "****",
            "xxxx",
            "password",
            "pass",
            "secret",
            "your-password",
            "changeme",
            "example",
            "test1234",
            "ada",
        ),
    ],
)
def test_a_stand_in_in_a_url_is_no_password(password: str) -> None:
    assert find_secret(f"postgres://ada:{password}@db.internal/hub") is None


@pytest.mark.parametrize(
    "text",
    [
        f"Fixed in {HEX[:40]} and {HEX[:7]}.",
        f"commit {HEX[:40]}\nparent {HEX[40:80]}",
        '{"id":"38c7cd12-6f66-4a02-bfed-7847db8c29f6","token":"38c7cd12-6f66-4a02-bfed-7847db8c29f6"}',
        "integrity sha512-" + base64.b64encode(DRAWN.digest()).decode(),
        '"integrity": "sha512-' + base64.b64encode(DRAWN.digest()).decode() + '"',
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "pip install sk-learn task-runner risk-model",
        "The api_key is read from the environment.",
        "api_key: read from the environment, never written down",
        "password_hash" + ' = "argon2id-default-parameters-2"',
        'password = os.environ["DATABASE_PASSWORD_2"]',
        'password = "${DATABASE_PASSWORD_2}"; token: {{ secrets.DEPLOY_TOKEN_2 }}',
        "password=settings.Database2Password",
        "SECRET_KEY" + ' = "change-me-2Long4words"',
        'PASSWORD="<your 12+ characters>" TOKEN="YOUR_TOKEN_1a2B_HERE"',
        'token = "refresh-token-v2-2024-11-21"',
        '"tokens":1184,"next_token":"' + MIXED[:20] + '"',
        "csrf_token: " + MIXED[:32],
        "key = " + MIXED[:20],
        '"key":"api/auth/method2","token":"e20714"',
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
        "bearer authentication-with-rotating-credentials",
        "The file begins with -----BEGIN PRIVATE" + " KEY----- and a line break.",
        "eyJ is how a JSON Web Token starts: eyJhbGciOi... then two dots.",
        f"{CLAIMS}.{CLAIMS}.{MIXED[:43]}",
        "ctx_" + "a_function_with_a_very_long_name_indeed_it_has",
        "def ctx_manager(ctx_token: str) -> None: ...",
        "https://user@example.org:8080/a:b@c",
        "git clone ssh://git@github.com:22/org/repo.git",
        "see http://[::1]:8000/@me and npm://left-pad:1.3.0@latest",
    ],
)
def test_ordinary_text_is_no_secret(text: str) -> None:
    assert find_secret(text) is None


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_nothing_in_the_corpus_is_a_secret(path: Path) -> None:
    assert find_secret(path.read_text(encoding="utf-8")) is None


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            "-",
            "_",
            "=",
            ":",
            " ",
            "é",
            "eyJ",
            ".eyJ",
            "sk-",
            " sk-",
            "ctx_",
            "ctx_a",
            "AKIA",
            "SK",
            ":AA",
            "xoxb-",
        ),
        *(
            "eyJaaaaaaaaaaaaaaaaaaaaaaa.",
            "-----BEGIN ",
            "-----BEGIN A PRIVATE " + "KEY-----\n\nA: b\n",
            "://",
            "://a:",
        ),
        *(
            "://a:b@",
            "key",
            "token",
            "token: ",
            'token="',
            'token="aB1.',
            "secret" + '="aaaaaaaaaaaa"',
            "password=",
        ),
    ],
)
def test_hostile_text_is_read_in_time(unit: str) -> None:
    text = (unit * (2**20 // len(unit) + 1))[: 2**20]
    start = time.process_time()

    find_secret(text)

    assert time.process_time() - start < 0.5


def test_the_module_needs_no_django() -> None:
    code = "import sys, ctxhub.core.secrets; print('django' in sys.modules)"

    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
