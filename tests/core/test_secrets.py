"""Detection of secrets. Values that look like credentials are assembled at run time, to pass scanners."""

import base64
import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from ctxhub.core.text.secrets import Secret, find_joined_secret, find_secret
from tests.timing import within_cpu_seconds

CORPUS = sorted((Path(__file__).parent.parent / "corpus").glob("*.txt"))
DIGEST = hashlib.sha512(b"not a secret")
HEX = DIGEST.hexdigest()
MIXED = base64.b64encode(DIGEST.digest() * 2).decode().replace("+", "A").replace("/", "b").replace("=", "")
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
    ("Stripe key", "rk" + "_test_" + MIXED[:24]),
    ("Vault token", "hvs" + "." + MIXED[:24]),
    ("Docker token", "dckr" + "_pat_" + MIXED[:27]),
    ("Shopify token", "shpat" + "_" + HEX[:32]),
    ("age key", "AGE" + "-SECRET-KEY-1" + MIXED[:58].upper()),
    ("Grafana token", "glsa" + "_" + MIXED[:32] + "_" + HEX[:8]),
    ("Linear key", "lin" + "_api_" + MIXED[:40]),
    ("Databricks token", "dapi" + HEX[:32]),
    ("Groq key", "gsk" + "_" + MIXED[:52]),
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


IN_PLACE = [
    ("Azure storage key", "AccountName=a;", "Account" + "Key=" + MIXED[:86] + "==", ";Endpoint=b"),
    ("Slack webhook", "https://hooks.slack.com/services/", f"T{HEX[:8]}/B{HEX[:8]}/{MIXED[:24]}", ""),
    ("password in a URL", "postgres://ada:", "hunter" + "2-and-more", "@db.internal:5432/hub"),
    ("password in a URL", "redis://:", MIXED[:16], "@127.0.0.1/0"),
    ("bearer token", "Authorization: Bearer ", MIXED[:32], "\n"),
    ("bearer token", '{"authorization":"bearer ', HEX[:40], '"}'),
    ("bearer token", "Authorization: Token ", HEX[:40], "\n"),
    ("bearer token", "curl -H 'authorization: token ", HEX[:40], "' localhost"),
    ("bearer token", 'headers = {"Authorization": "Token ', MIXED[:32], '"}'),
    ("bearer token", "req.setHeader('Authorization', 'Token ", HEX[:40], "')"),
    ("bearer token", "Authorization: ApiKey ", MIXED[:32], ""),
    ("assigned secret", 'password = "', "Tr0ub4" + "dor&3-Horse", '"'),
    ("assigned secret", "DB_PASSWORD=", MIXED[:16], "\n"),
    ("assigned secret", '{"clientSecret": "', MIXED[:24], '"}'),
    ("assigned secret", "api_key: str = '", HEX[:32], "'"),
    ("assigned secret", "  api-key: ", HEX[:32], "\n"),
    ("assigned secret", '\\"password\\": \\"', "Xy7" + SIGNS + "Qw9-pL2", '\\"'),
    ("assigned secret", "aws_secret_access_key = ", "/".join([MIXED[:20], MIXED[20:39]]), "\n"),
    ("assigned secret", 'os.environ["GITHUB_TOKEN"] = "', MIXED[:40], '"'),
]


@pytest.mark.parametrize(("kind", "before", "value", "after"), IN_PLACE)
def test_a_value_in_the_place_of_a_credential_is_found(
    kind: str, before: str, value: str, after: str
) -> None:
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


def test_the_first_of_several_secrets_is_reported() -> None:
    github, aws = "ghp" + "_" + MIXED[:36], "AKIA" + HEX[:16].upper()

    assert find_secret(f"{aws} and {github}") == Secret("AWS access key", 0)
    assert find_secret(f"{github} and {aws}") == Secret("GitHub token", 0)


def test_letters_that_change_length_in_lower_case_do_not_move_the_position() -> None:
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
def test_a_placeholder_in_a_url_is_no_password(password: str) -> None:
    assert find_secret(f"postgres://ada:{password}@db.internal/hub") is None


@pytest.mark.parametrize(
    "text",
    [
        f"Fixed in {HEX[:40]} and {HEX[:7]}.",
        f"commit {HEX[:40]}\nparent {HEX[40:80]}",
        '{"id":"38c7cd12-6f66-4a02-bfed-7847db8c29f6","token":"38c7cd12-6f66-4a02-bfed-7847db8c29f6"}',
        "integrity sha512-" + base64.b64encode(DIGEST.digest()).decode(),
        '"integrity": "sha512-' + base64.b64encode(DIGEST.digest()).decode() + '"',
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


# -- Assigned values -------------------------------------------------------------------------------

GUESSABLE = "hunter" + "2"
CHOSEN = GUESSABLE + "-Blue9"
AWS = "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYZZZZZZZKEY"
SCRAMBLED = "k9f2m" + "slq01"


def login(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


ASSIGNED = [
    # As in a file of environment variables.
    ("DB_PASSWORD=", GUESSABLE, "\n"),
    ("export DB_PASSWORD='", CHOSEN, "'"),
    ("POSTGRES_PASSWORD=", "correct-horse-" + "battery-staple", ""),
    ("A=1\nDB_PASSWORD=", "sword" + "fish", "\nB=2"),
    ("DB_PASS=", GUESSABLE, ""),
    ("DATABASE_PWD=", "Wint3r" + "IsHere", ""),
    ("PASSWORD=", "Pa$$w0" + "rd9", ""),
    ("docker run -e MYSQL_PASSWORD=", GUESSABLE, " mysql"),
    ("SECRET=", GUESSABLE, ""),
    ("CLIENT_SECRET=", "abc123" + "def456", ""),
    # On a command line, in a connection string.
    ("psql --password=", CHOSEN, " -h db"),
    ("psql --password ", CHOSEN, " -h db"),
    ("tool --db-password ", CHOSEN, ""),
    ("host=db user=ada password=", GUESSABLE, " dbname=hub"),
    ("?user=ada&password=", CHOSEN, "&db=1"),
    ("mysql -u root -p", "Hunter" + "2x", ""),
    ("mysql -uroot -p", "Hunter" + "2x", " shop < dump.sql"),
    ("mysqldump --single-transaction -p'", CHOSEN, "' shop > dump.sql"),
    ("mysqladmin -p", "sword" + "fish", " status"),
    ("docker exec -i db mariadb \\\n  -u root \\\n  -p", CHOSEN, "; echo done"),
    ("C:\\bin\\mysql.exe -h db -P 3306 -p", CHOSEN, ""),
    # Keys of frameworks.
    ("SECRET_KEY_BASE=", HEX[:64], "\n"),
    ("export SECRET_KEY_BASE='", CHOSEN, "'"),
    ("  secret_key_base: ", HEX[:64], "\n"),
    ('secret_key_base: "', MIXED[:64], '",'),
    ("APP_KEY_BASE=", SCRAMBLED, ""),
    ("RAILS_MASTER_KEY=", HEX[:32], "\n"),
    ("MASTER_KEY=", SCRAMBLED, ""),
    ("master_key = '", MIXED[:32], "'"),
    ('{"masterKey": "', MIXED[:32], '"}'),
    # Passphrases.
    ('passphrase: "', "correct horse " + "battery staple", '"'),
    ('{"passphrase": "', "Correct Horse " + "Battery Staple", '"}'),
    ("gpg_passphrase = '", "blue whale 42 " + "jumps!", "'"),
    ('password="', "correct, horse; " + "battery staple", '"'),
    # In code and JSON and YAML.
    ('password = "', GUESSABLE, '"'),
    ("password = '", "Tr0ub4" + "dor&3", "'"),
    ('password = "', "correct horse " + "battery staple", '"'),
    ('{"user": "ada", "password": "', "Passw" + "0rd!", '"}'),
    ("{password: ", CHOSEN, "}"),
    ("passwd: ", CHOSEN, ""),
    ("password:\n  ", CHOSEN, "\n"),
    ("<password>", CHOSEN, "</password>"),
    ("secret=", "abcd1234" + "efgh5678", ""),
    ("secret=", "s3cr3t" + "value", ""),
    ("client_secret: '", SCRAMBLED, "'"),
    ('client_secret="', "Zx81-" + "qqTv5", '"'),
    ('"clientSecret":"', "a1b2" + "c3d4e5", '"'),
    ("api_key=", "abcd1234" + "efgh", ""),
    # The secret access key of AWS.
    ("aws_secret_access_key = ", AWS, "\n"),
    ('export AWS_SECRET_ACCESS_KEY="', AWS, '"'),
    ('{"SecretAccessKey": "', AWS, '"}'),
    ("AWS Secret Access Key [None]: ", AWS, ""),
    ("Secret access key: ", AWS, ""),
    ("<SecretAccessKey>", AWS, "</SecretAccessKey>"),
    ("aws_secret_access_key=", AWS[:-3] + "/xY", ""),
    ("mc alias --secret-key ", AWS[:39] + "9", ""),
    # In a sentence.
    ("Note that the password is ", GUESSABLE, "."),
    ("root password: ", "Xy7Qw" + "9pL2", ""),
    ("The password for the staging database is ", CHOSEN, ", I think"),
    ("Password for admin: ", CHOSEN, ""),
    ("the admin password (root) was ", CHOSEN, ""),
    ("**Password:** ", CHOSEN, ""),
    ("Log in as ada with the password ", CHOSEN, "!"),
    ("The API key is ", "abcd1234" + "efgh5678", ", for now."),
    ("the secret is ", CHOSEN, "."),
    ("password:\n\n", CHOSEN, ""),
    ("Das Passwort ist ", CHOSEN, ""),
    ("Le mot de passe est ", CHOSEN, ""),
    ("Mot de passe : ", CHOSEN, ""),
    ("La contraseña es ", CHOSEN, ""),
    ("數據庫的密碼是", CHOSEN, "。"),
    ("密码：", GUESSABLE, "，请保密"),
    ("I have set the root password to ", CHOSEN, ", as asked"),
    ("password now ", CHOSEN, ""),
    ("password -> ", CHOSEN, ""),
    ("| password | ", CHOSEN, " |"),
    ("CREATE USER ada WITH PASSWORD '", CHOSEN, "';"),
    ("set the root pw to ", CHOSEN, ""),
    ("db_pw = '", CHOSEN, "'"),
    ("{'pass': '", "Tr0ub4" + "dor3", "'}"),
    ("curl -u ada:", CHOSEN, " https://api.example.org"),
    ("curl --user 'ada:", CHOSEN, "' https://api.example.org"),
    ("credentials: ada / ", CHOSEN, ""),
    ("The credentials are ada/", CHOSEN, ", for staging"),
    ("login ada:", CHOSEN, ""),
    ("口令: ", CHOSEN, ""),
    ("Пароль: ", CHOSEN, ""),
    ("パスワードは", CHOSEN, "です"),
    ("비밀번호: ", CHOSEN, ""),
]


@pytest.mark.parametrize(("before", "value", "after"), ASSIGNED)
def test_a_chosen_value_is_found_behind_its_name(before: str, value: str, after: str) -> None:
    found = find_secret(before + value + after)

    assert found == Secret("assigned secret", len(before))
    assert found.end == len(before + value)


LOGINS = [
    ("Authorization: Basic ", login("ada", CHOSEN), "\r\nAccept: */*"),
    ("curl -H 'authorization: basic ", login("admin", "admin"), "' localhost"),
    ('{"Authorization":"Basic ', login("user", "päss"), '"}'),
    ("Basic ", login("a", HEX[:21]).rstrip("="), ""),
]


@pytest.mark.parametrize(("before", "value", "after"), LOGINS)
def test_a_login_of_http_basic_is_found(before: str, value: str, after: str) -> None:
    assert find_secret(before + value + after) == Secret("login of HTTP Basic", len(before))


@pytest.mark.parametrize(
    "text",
    [
        # Placeholders, and sources of a value.
        "password=<your password>",
        "DB_PASSWORD=${DB_PASSWORD}",
        "DB_PASSWORD=${DB_PASSWORD:-postgres}",
        "PASSWORD=$(cat /run/secrets/db2)",
        "MYSQL_PASSWORD_FILE=/run/secrets/db2",
        "DB_PASSWORD=changeme",
        "DB_PASSWORD=changeme123",
        "DB_PASSWORD=postgres",
        "DB_PASSWORD=test1234",
        "DB_PASSWORD=required",
        "DB_PASSWORD=from-vault",
        "DB_PASSWORD=set-in-the-environment",
        "DB_PASSWORD=\nDB_USER=ada",
        "SECRET_KEY" + "=example-secret-1a2b3c4d",
        'secret=os.environ["X"]',
        "client_secret: getenv('X2')",
        'client_secret="<client-secret-1a2b>"',
        "client_secret: $CLIENT_SECRET",
        "secret=projects/123/secrets/db2",
        'secret: "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbC123"',
        "secret: op://vault/item2/field",
        "aws_secret_access_key = <your secret access key>",
        "AWS_SECRET_ACCESS_KEY=${{ secrets.AWS_SECRET_ACCESS_KEY }}",
        "secret access key is stored in the keychain",
        "password=****",
        'password = "{{ vault_db_password2 }}"',
        'password="%(db_password2)s"',
        "api_key: 'your-api-key-123'",
        # Code.
        "def login(user: str, password: str) -> None: ...",
        "login(user, token=None, password=None)",
        "getPassword() and setPassword2(x)",
        "password = input2",
        "password=newPassword2",
        "password=user.password2",
        "password=args[2]",
        "password = row['pw12345']",
        "password = generate_password(16)",
        "password: process.env.DB_PASSWORD2",
        "password: { type: 'string', minLength: 12 }",
        '{"password": {"type": "string", "format": "password"}}',
        "'password' => 'required|string|min:8'",
        "password: Annotated[str, MinLen(12)]",
        "private_key: Ed25519PrivateKey | Ed448PrivateKey",
        "api_key: config.apiKey2",
        "secret = secrets.token_hex(32)",
        'password = "enter your new password"',
        'login(password="wrong-password")',
        '{"password": "Mot de passe"}',
        # Sentences about passwords and secrets.
        "password must have 12 characters",
        "The password is 12characters long at least",
        "Password: 8-64 characters, 1 digit",
        "the password is SHA256-hashed",
        "password: argon2id",
        "the password is base64url-encoded",
        "Password is kept in 1Password",
        "password policy: NIST800-63B",
        "password reset is OPS-1234",
        "The password was changed on 2024-11-21T10:00:00Z",
        "password: 38c7cd12-6f66-4a02-bfed-7847db8c29f6",
        "password: ada@example.org",
        "password hashes look like $2b$12$abcdefghijklmnopqrstuv",
        "the secret is kept in vault2",
        "secret: app1-db2",
        "secretName: tls-cert-2024",
        "signing key: RS256, encryption key: AES256-GCM",
        "tests pass: 1200ms, pass=12/12, first pass: O(n2)",
        "the token is JWT-RS256",
        "tokens: 1184, max_tokens=200000",
        "primary key: id2, sort_key=created2_at",
        "密碼必須至少12個字元",
        "密码：至少 12 位",
        "密碼是用 argon2id 雜湊的",
        "Das Passwort ist zu kurz: mindestens 12 Zeichen",
        "Le mot de passe est obligatoire",
        "パスワードは12文字以上",
        "the password to sha256-hash, the password to 12characters",
        "def change(password) -> Str2ng: ...; password -> Result2",
        "| password | varchar255 | token | uuid4 |",
        "WITH PASSWORD 'password2'; PASSWORD '${PG_PASSWORD2}'",
        "docker run -u 1000:1000 x, curl -u ada:$TOKEN2 y, chown -u ada:staff2 z",
        "credentials: aws/secretsmanager2, login page: app/login2fa, login with github/oauth2",
        "pw: argon2id, npwd2, a pw of 12characters",
        # Options of other commands, and a password that is asked for or read.
        "docker run -p 8080:80 web -p8443:443",
        "mysql -u root -p",
        "mysql -u root -p shop2prod",
        "mysql -u root -p$MYSQL_ROOT_PASSWORD2 -p${DB_PASS2}",
        "mysql -u root -p'<password>' -ppassword -p\"$(cat db2.txt)\"",
        "mysql -h db -P3306x9y shop",
        "docker run --name mysql -p3306:3306 -p127.0.0.1:33060:33060 mysql:8",
        "mysqldump shop | ssh -pHunter2x backup",
        "brew install mysql; ./run -pHunter2x",
        "mysql is up\nrun -pHunter2x",
        "mkdir -p2024a1b, patch -p1, ps -p1234",
        # Schemes of a header.
        "Authorization: Token <token>",
        "Authorization: Token ${DEPLOY_TOKEN_2}",
        "Authorization: Token YOUR_TOKEN_GOES_HERE",
        "Authorization: token refresh-token-v2-2024-11-21",
        "authorization, token rotation2 and revocation3 are separate",
        f"Token {HEX[:40]} is the digest of the file",
        'headers = {"Authorization": f"Token {api_token_2}"}',
        # Keys that are none, or elsewhere.
        "SECRET_KEY_BASE=${SECRET_KEY_BASE_2}",
        "SECRET_KEY_BASE=changeme",
        'secret_key_base: <%= ENV["SECRET_KEY_BASE2"] %>',
        "secret_key_base: Rails.application.credentials.secret2",
        "RAILS_MASTER_KEY=$(cat config/master.key2)",
        "RAILS_MASTER_KEY=<32 hex digits>",
        "master key: id2, master_key: config.masterKey2",
        "The master key is kept in 1Password",
        "keybase: adalovelace2",
        # Phrases about a password.
        'password = "see the vault for it"',
        'passphrase = "ask whoever is on call"',
        'passphrase: "the first eight words of the card"',
        '{"passphrase": "Enter the passphrase again, please"}',
        '{"passphrase": "Passphrase must have 4 words!"}',
        '{"password": "Sign back again soon"}',
        'secret = "Must have 4 words!", token: "At least 12 signs, please!"',
        'passphrase = "{{ four words 42 here }}"',
        # HTTP Basic.
        "Authorization: Basic <credentials>",
        "Authorization: Basic ${AUTH}",
        "Authorization: Basic YOUR_BASE64_HERE",
        "basic authentication with username and password",
        "Basic knowledge2 of SQL, basic functionality: yes",
    ],
)
def test_a_text_that_only_resembles_an_assigned_credential_is_no_secret(text: str) -> None:
    assert find_secret(text) is None


# -- Secrets across pieces -------------------------------------------------------------------------

JOINED = [
    (["Deploy with ghp" + "_" + MIXED[:10], "", MIXED[10:36]], "GitHub token", 12),
    (["password = ", "", CHOSEN], "assigned secret", 11),
    (["the root password is", "\n\n", CHOSEN], "assigned secret", 22),
    (["a", "password = ", CHOSEN], "assigned secret", 12),
    (["postgres://ada:", "", CHOSEN + "@db/x"], "password in a URL", 15),
    (["Authorization: Basic ", "", login("ada", CHOSEN)], "login of HTTP Basic", 21),
    (["-----BEGIN PRIVATE", "", " KEY" + "-----\nMII"], "private key", 0),
    ([JWT[:-30], "", JWT[-30:]], "JSON Web Token", 0),
    ([f"{HEADER}.{MIXED * 50}", "", f".{MIXED[:43]}"], "JSON Web Token", 0),
]


@pytest.mark.parametrize(("pieces", "kind", "start"), JOINED)
def test_a_secret_across_pieces_is_found(pieces: list[str], kind: str, start: int) -> None:
    assert not any(map(find_secret, pieces))
    assert find_joined_secret(*pieces) == Secret(kind, start)

    far = "An ordinary text before it. " * 1_000
    assert find_joined_secret(far + pieces[0], *pieces[1:]) == Secret(kind, start + len(far))


@pytest.mark.parametrize(
    "pieces",
    [
        ("the password is ", "", "long enough"),
        ("passwords", "\n\n", "2024-11-21 done"),
        (f"password = {CHOSEN}", "\n", "and so on"),
        ("and so on", "\n", f"password = {CHOSEN}"),
        ("", "", ""),
        ("a",),
    ],
)
def test_a_secret_within_one_piece_is_not_reported_as_joined(pieces: tuple[str, ...]) -> None:
    assert find_joined_secret(*pieces) is None


def test_long_pieces_are_joined_quickly() -> None:
    pieces = ["password = 1 " * 80_000, "x", "eyJ." * 250_000]
    with within_cpu_seconds(1.0):
        find_joined_secret(*pieces)


# -- Ordinary and hostile texts ---------------------------------------------------------------------


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_nothing_in_the_corpus_is_a_secret(path: Path) -> None:
    assert find_secret(path.read_text(encoding="utf-8")) is None


HOSTILE = [
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
        "password for a b c ",
        "password is a1",
        "PASSWORD=hunter ",
        'password="abc def ghi ',
        "secret key ",
        "密碼",
        "密碼是a1",
        "basic YTpi",
        " -pa1b2",
        "mysql -pa -p1",
        "mysql \\\n",
        "authorization: token ",
        "key_base=a1b2",
        'passphrase="abc 12 def ghi; ',
        "basic aaaaaaaa ",
    ),
    *(
        "ghp_",
        "x_abcdefghijklmnopqrs",
        "a.abcdef.",
        "sk-a-",
        "sl.u.",
        "EAAa",
        "eyJrIjoi",
        "_auth=abcdefgh ",
        "?sig=%2Babcdefgh",
        "a_key=",
        ":5432:a:b:",
        "a:$1$" + "a" * 21,
        "cookie: ",
        "cookie: a=b; ",
        'cookie":sid=',
        "private-lines: 1\\n",
        '"auth": "YWRh',
        "authorization: a ",
        "bearer " + "Ab" * 20 + " ",
        "bearer " + "A" * 400 + " ",
        "://discord.com/api/webhooks/1234567890123456/",
        "hasło abc def ",
    ),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_is_searched_quickly(unit: str) -> None:
    text = (unit * (2**18 // len(unit) + 1))[: 2**18]
    with within_cpu_seconds(0.5):
        find_secret(text)


def test_a_mebibyte_of_hostile_text_is_searched_quickly() -> None:
    text = "".join(unit * (2**20 // len(HOSTILE) // len(unit) + 1) for unit in HOSTILE)[: 2**20]
    with within_cpu_seconds(1.0):
        find_secret(text)


def test_the_module_needs_no_django() -> None:
    code = "import sys, ctxhub.core.text.secrets; print('django' in sys.modules)"

    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
