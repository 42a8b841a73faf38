"""Masking of secrets: the whole credential goes, the rest stays, in linear time."""

import pytest

from ctxhub.core.text.secrets import find_secret, mask_secrets
from tests.core.test_secrets import (
    ASSIGNED,
    CHOSEN,
    CORPUS,
    DIGITS,
    HEX,
    HOSTILE,
    IN_PLACE,
    ISSUED,
    JWT,
    LOGINS,
    MIXED,
    login,
)
from tests.timing import within_cpu_seconds

MIB, QUARTER = 2**20, 2**18
GITHUB = "ghp" + "_" + MIXED[:36]
TELEGRAM = DIGITS[:10] + ":AA" + MIXED[:33]
BEGIN, END = "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----"
LINES = [MIXED[:64], MIXED[5:69], MIXED[9:73], MIXED[:21] + "=="]

OF_ONE_LENGTH = ("AWS access key", "Twilio key", "Databricks token")
HEADERS = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,00"]
BREAKS = ["\n", "\r\n", "\\n", "\n    ", "\n> ", '\\n"\n + "']

EACH = [
    *((kind, "Deploy with ", value, " tomorrow.") for kind, value in ISSUED),
    *IN_PLACE,
    *(("assigned secret", *sample) for sample in ASSIGNED),
    *(("login of HTTP Basic", *sample) for sample in LOGINS),
    ("Telegram bot token", "https://api.telegram.org/bot", TELEGRAM, "/getMe"),
    ("private key", "key:\n", "\n".join([BEGIN, *LINES, END]), "\nand so on"),
]


@pytest.mark.parametrize(("kind", "before", "value", "after"), EACH)
def test_a_credential_of_each_kind_is_masked_and_the_rest_stays(
    kind: str, before: str, value: str, after: str
) -> None:
    masked, count = mask_secrets(before + value + after)

    kept = "" if after == "!" else after  # It may be the end of the password.
    assert (masked, count) == (f"{before}[credential: {kind}]{kept}", 1)
    assert find_secret(masked) is None


@pytest.mark.parametrize(("kind", "before", "value", "after"), EACH)
def test_beside_other_characters_the_same_is_masked(kind: str, before: str, value: str, after: str) -> None:
    around = "Größe 台灣 İ🙂 "

    masked, _ = mask_secrets(f"{around}\n{before}{value}{after}\n{around}")

    alone, _ = mask_secrets(f"{before}{value}{after}")
    assert masked == f"{around}\n{alone}\n{around}"


@pytest.mark.parametrize(
    ("kind", "before", "value", "after"),
    [
        *((kind, "", value + MIXED[:30], " x") for kind, value in ISSUED if kind not in OF_ONE_LENGTH),
        ("JSON Web Token", "", JWT + MIXED, " x"),
        ("JSON Web Token", "", f"{JWT}.{MIXED}.{MIXED[:22]}", ". Then"),
        ("Telegram bot token", "", TELEGRAM + MIXED[:9], "/x"),
        ("bearer token", "bearer ", MIXED[:40] * 11 + "==", "'"),
        ("assigned secret", "api_key=", MIXED[:21] + "==", " x"),
        ("assigned secret", "password: ", CHOSEN + "&3-Horse", ", x"),
        ("assigned secret", "?password=", CHOSEN, "&user=ada"),
        ("assigned secret", 'password="', CHOSEN + "密碼x9", '"'),
        ("assigned secret", "密碼是", CHOSEN + "!", "。"),
    ],
)
def test_a_credential_longer_than_what_identifies_it_goes_whole(
    kind: str, before: str, value: str, after: str
) -> None:
    assert mask_secrets(before + value + after) == (f"{before}[credential: {kind}]{after}", 1)


@pytest.mark.parametrize(
    ("line_break", "head"),
    [(" ", []), *((line_break, head) for line_break in BREAKS for head in ([], HEADERS))],
)
@pytest.mark.parametrize("end", [[END], []])
def test_a_private_key_goes_whole(line_break: str, head: list[str], end: list[str]) -> None:
    key = line_break.join([BEGIN, *head, *LINES, *end])

    masked, count = mask_secrets(f"before {key}\n\nAnd what follows.")

    assert (masked, count) == ("before [credential: private key]\n\nAnd what follows.", 1)


@pytest.mark.parametrize("after", ["\nis how a key starts.", "\nNote: the rest is gone.", "\n\n## Heading\n"])
def test_the_first_line_of_a_key_alone_takes_no_prose_with_it(after: str) -> None:
    assert mask_secrets(BEGIN + after) == (f"[credential: private key]{after}", 1)


def test_all_of_several_credentials_are_masked() -> None:
    text = f"{GITHUB} and {JWT}, password={CHOSEN}\n{BEGIN}\n{LINES[0]}\n{END}\n{GITHUB}"

    masked, count = mask_secrets(text)

    assert count == 5
    assert masked.count("[credential: GitHub token]") == 2
    assert find_secret(masked) is None


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (
            f"The password {GITHUB} is {CHOSEN}",
            "The password [credential: GitHub token] is [credential: assigned secret]",
        ),
        (
            f"postgres://ada:{CHOSEN}@db is {CHOSEN}",
            "postgres://ada:[credential: password in a URL]@db is [credential: assigned secret]",
        ),
    ],
)
def test_a_mask_does_not_make_a_secret_of_its_neighbour(text: str, masked: str) -> None:
    assert mask_secrets(text) == (masked, 2)
    assert find_secret(masked) is None


def test_a_text_without_credentials_is_not_changed() -> None:
    for path in CORPUS:
        text = path.read_text(encoding="utf-8")
        assert mask_secrets(text) == (text, 0)


CREDENTIALS = [
    f"{GITHUB} ",
    f"password={CHOSEN}\n",
    f"密碼是{CHOSEN}。",
    f"postgres://ada:{CHOSEN}@db ",
    f"Authorization: Basic {login('ada', CHOSEN)}\n",
    f"{JWT}.",
    f"{BEGIN}\n",
    f"{BEGIN}\n{LINES[0]}\n{END}\n",
    f"contraseña={CHOSEN}/",
    f"{TELEGRAM}0",
    f"SK{HEX[:32]} ",
]


@pytest.mark.parametrize("unit", CREDENTIALS)
def test_a_text_full_of_credentials_is_masked_quickly(unit: str) -> None:
    text = (unit * (QUARTER // len(unit) + 1))[:QUARTER]
    with within_cpu_seconds(1):
        masked, _ = mask_secrets(text)

    assert find_secret(masked) is None


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_is_masked_quickly(unit: str) -> None:
    text = (unit * (QUARTER // len(unit) + 1))[:QUARTER]
    # Linear: a quadratic pattern takes seconds, and minutes a mebibyte. A slow machine takes half a second.
    with within_cpu_seconds(1.25):
        mask_secrets(text)


def test_a_mebibyte_of_hostile_text_and_credentials_is_masked_quickly() -> None:
    units = [*CREDENTIALS, *HOSTILE]
    text = "".join(unit * (MIB // len(units) // len(unit) + 1) for unit in units)[:MIB]
    with within_cpu_seconds(5):
        masked, _ = mask_secrets(text)

    assert find_secret(masked) is None
