"""Every shape by example: what must go, what must stay, and that neither costs much.

Secrets are made when the test runs, from a fixed seed, and prefixes are joined from pieces: no
scanner of this repository takes a test for a leak.
"""

import base64
import json
import random
import string

import pytest

from gitmemo.redact import redact_text

DICE = random.Random(20260)
ALNUM = string.ascii_letters + string.digits
URL64 = ALNUM + "-_"
HEX = "0123456789abcdef"


def made(n: int, letters: str = ALNUM) -> str:
    """`n` letters by chance that begin and end with letters or digits."""
    inner = "".join(DICE.choice(letters) for _ in range(n - 2))
    return DICE.choice(ALNUM if letters != HEX else HEX) + inner + DICE.choice(HEX)


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def lines(n: int = 6) -> list[str]:
    return [made(64, ALNUM + "+/") for _ in range(n)]


def pem(kind: str = "RSA ", join: str = "\n", block: str = "") -> str:
    head, tail = f"-----BEGIN {kind}" + f"PRIVATE KEY{block}-----", f"-----END {kind}"
    return join.join([head, *lines(), tail + f"PRIVATE KEY{block}-----"])


def jwt(payload: str) -> str:
    parts = [base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in (HEAD, payload)]
    return ".".join((*parts, made(43, URL64)))


HEAD = '{"alg":"HS256","typ":"JWT"}'

VENDORS = {
    "age": "AGE-SECRET-" + "KEY-1" + made(58, string.ascii_uppercase + string.digits).upper(),
    "jwt": jwt('{"sub":"u_83920","role":"service_role","iss":"supabase"}'),
    "aws": "AKIA"
    + made(16, string.ascii_uppercase + "234567")
    .upper()
    .replace("1", "2")
    .replace("0", "3")
    .replace("8", "4")
    .replace("9", "5"),
    "github": "ghp_" + made(36),
    "github fine": "github_" + "pat_" + made(22) + "_" + made(59),
    "gitlab": "glpat-" + made(20, URL64),
    "gitlab runner": "glrt-" + made(27, URL64),
    "atlassian": "ATATT3x" + made(180, URL64),
    "bitbucket": "ATBB" + made(32),
    "slack": "xoxb-" + "123456789012-" + made(24),
    "slack app": "xapp-" + "1-A0123456-" + made(30),
    "discord bot": "MT" + made(24) + "." + made(6) + "." + made(38, URL64),
    "stripe": "sk_" + "live_" + made(24),
    "stripe restricted": "rk_" + "live_" + made(24),
    "stripe webhook": "whsec_" + made(32),
    "square": "sq0atp-" + made(22, URL64),
    "square access": "EAAA" + made(60, URL64),
    "paypal": "access_token$" + "production$" + made(16, HEX) + "$" + made(32, HEX),
    "openai": "sk-" + "proj-" + made(48, URL64),
    "openai old": "sk-" + made(48),
    "anthropic": "sk-" + "ant-api03-" + made(93, URL64),
    "xai": "xai-" + made(80),
    "groq": "gsk_" + made(52),
    "replicate": "r8_" + made(37),
    "google": "AIza" + made(35, URL64),
    "google oauth": "GOCSPX-" + made(28, URL64),
    "npm": "npm_" + made(36),
    "pypi": "pypi-" + "AgEIcHlwaS5vcmc" + made(140, URL64),
    "rubygems": "rubygems_" + made(48, HEX),
    "crates": "cio" + made(32),
    "huggingface": "hf_" + made(34),
    "sendgrid": "SG." + made(22, URL64) + "." + made(43, URL64),
    "mailgun": "key-" + made(32, HEX),
    "mailchimp": made(32, HEX) + "-us12",
    "digitalocean": "dop_" + "v1_" + made(64, HEX),
    "docker": "dckr_" + "pat_" + made(27, URL64),
    "vault": "hvs." + made(90, URL64),
    "databricks": "dapi" + made(32, HEX),
    "shopify": "shpat_" + made(32, HEX),
    "linear": "lin_" + "api_" + made(40),
    "notion": "ntn_" + made(46),
    "notion old": "secret_" + made(43),
    "airtable": "pat" + made(14) + "." + made(64, HEX),
    "figma": "figd_" + made(40, URL64),
    "grafana": "glsa_" + made(32) + "_" + made(8, HEX),
    "cloudflare": "v1.0-" + made(24, HEX) + "-" + made(146, HEX),
    "fly": "fo1_" + made(43, URL64),
    "heroku": "HRKU-" + made(36, URL64),
    "vercel": "vcp_" + made(24),
    "netlify": "nfp_" + made(36),
    "supabase": "sbp_" + made(40, HEX),
    "supabase secret": "sb_" + "secret_" + made(31, URL64),
    "doppler": "dp." + "st.dev." + made(43),
    "pulumi": "pul-" + made(40, HEX),
    "sentry": "sntryu_" + made(64, HEX),
    "new relic": "NRAK-" + made(27, string.ascii_uppercase + string.digits),
    "telegram": "123456789:AA" + made(33, URL64),
    "azure client": "abc8Q~" + made(34),
}

PLACES = {
    "password=%s": "hunter22",
    "DB_PASSWORD=%s": "letmein",
    "export PGPASSWORD=%s": "correcthorse",
    "passwd: %s": "Sommer2024",
    "pwd='%s'": "letmein",
    "the password is %s.": "Sommer2024",
    'connect(password="%s")': "letmein",
    '{"password": "%s"}': "Sommer2024",
    "curl -u bot:%s https://x.example.net": "letmein",
    "curl -s \\\n  --user 'bot:%s' https://x.example.net": "k9!x",
    "Server=db1;Database=app;User Id=sa;Password=%s;Encrypt=true": "letmein",
    "Pwd=%s; Server=db1": "letmein",
    "host=db1 user=app password=%s dbname=x": "letmein",
    "postgres://app:%s@db1/x": "letmein",
    "mongodb+srv://app:%s@cluster0.ab1cd.mongodb.net/x": "letmein",
    "amqp://app:%s@mq1:5672/%%2f": "letmein",
    "jdbc:mysql://db1:3306/x?user=app&password=%s": "letmein",
    "//registry.npmjs.org/:_authToken=%s": "5f0c8a1e-52b1-4c39-9d0b-7d1b0b3f7a10",
    '{"auths": {"https://index.docker.io/v1/": {"auth": "%s"}}}': b64("bot:letmein"),
    "machine git.example.net\n  login bot\n  password %s": "letmein",
    "Authorization: Basic %s": b64("bot:letmein"),
    "-H 'Authorization: Bearer %s'": made(40, URL64),
    "Authorization: token %s": made(40, HEX),
    "X-Api-Key: %s": made(32),
    "Cookie: theme=dark; PHPSESSID=%s; lang=de": made(26, string.ascii_lowercase + "0123456789"),
    "Set-Cookie: session=%s; HttpOnly": made(40),
    "https://acme.blob.core.windows.net/c?sv=2024&sig=%s&se=2026": made(43, ALNUM) + "%3D",
    "https://hooks.slack.com/services/%s": f"T{made(8)}/B{made(8)}/{made(24)}",
    "https://discord.com/api/webhooks/123456789012345678/%s": made(68, URL64),
    "https://api.telegram.org/bot%s/getMe": "123456789:AA" + made(33, URL64),
    "TWILIO_AUTH_TOKEN=%s": made(32, HEX),
    "DD_API_KEY: %s": made(32, HEX),
    "HEROKU_API_KEY=%s": "5f0c8a1e-52b1-4c39-9d0b-7d1b0b3f7a10",
    "CLOUDFLARE_API_TOKEN=%s": made(40, URL64),
    "AWS_SECRET_ACCESS_KEY=%s": made(40, ALNUM + "+/"),
    "https://%s@git.example.net/x.git": made(40),
    "PrivateKey = %s": made(43, ALNUM + "+/") + "=",
    '{"kty":"OKP","crv":"Ed25519","d":"%s"}': made(43, URL64),
    "AccountKey=%s;EndpointSuffix=core.windows.net": made(86, ALNUM) + "==",
}

PPK = "\n".join(
    ("PuTTY-User-Key-File-3: ssh-ed25519", "Public-Lines: 1", "AAAAC3Nz", "Private-Lines: 2")
)
KEYS = {
    "plain": pem(),
    "encrypted": pem("ENCRYPTED "),
    "openssh": pem("OPENSSH "),
    "pgp": pem("PGP ", block=" BLOCK"),
    "indented": pem(join="\n    "),
    "json": json.dumps({"type": "service_account", "private_key": pem("", "\n")}),
    "json twice": json.dumps(json.dumps({"k": pem()})),
    "crlf": pem(join="\r\n"),
    "quoted in code": pem(join='" +\n  "'),
    "cut off": "\n".join(pem().split("\n")[:4]),
    "in one line": pem(join=" "),
    "putty": PPK + "\n" + "\n".join(lines(2)) + "\nPrivate-MAC: ",
}

HASH = HEX * 4
HARMLESS = [
    *("md5 " + HASH[:32], "sha1 " + HASH[:40], "sha256: " + HASH, "sha512 " + HASH * 2),
    f"token digest sha256-{b64('0123456789abcdef0123456789abcdef')}",
    f'"integrity": "sha512-{b64(HASH * 2)[:86]}==",',
    f"golang.org/x/oauth2 v0.1.0 h1:{b64(HASH)[:43]}=",
    f"    --hash=sha256:{HASH} \\",
    f'resolved "https://registry.yarnpkg.com/js-tokens/-/js-tokens-4.0.0.tgz#{HASH[:40]}"',
    f"fixed in 8177844715897290c378bcee96b1ae7b2794eb14, see [[{HASH[:40]}]]",
    f"![f](data:font/woff2;base64,{b64(HASH * 9)})",
    "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0."
    "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    "stripe's own sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "https://" + HASH[:32] + "@o12345.ingest.us.sentry.io/4501",
    "pk_live_" + made(24),
    *("token = get_token()", "password: str", "password: str = Field(...)", "passwd: sha512"),
    *("password = generate_password_v2(user)", "pwd = os.getcwd()", "PWD=/home/me/project1"),
    *("PASSWORD=$1", "PASSWORD=${DB_PASSWORD}", "PASSWORD=%DB_PASSWORD%", "PASSWORD=password"),
    *('secret_name="db/prod"', "secretName: my-app-db-credentials-v2", "secret: my-app-tls-v2"),
    "secretKeyRef:\n  name: db-secret-2\n  key: password",
    "password = random_password.db.result",
    'password = "${random_password.db.result}"',
    "client_secret = data.azurerm_key_vault_secret.client2.value",
    'token = "projects/123456/secrets/db-password/versions/3"',
    'password: "vault:secret/data/db#password1"',
    'password: "op://vault/item/password1"',
    "secret: ref+awsssm://prod/db/password1",
    "password: $ANSIBLE_VAULT;1.1;AES256",
    *(".token__3xYz9kLm2 { color: red }", 'class="css-1q2w3e4r5t token-9f8e7d"'),
    "const tokenClass = styles['token__a1b2c3d4'];",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + made(120) + " me@host",
    "-----BEGIN CERTIFICATE-----\n" + "\n".join(lines()) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n" + "\n".join(lines()),
    "look for -----BEGIN " + "PRIVATE KEY----- and the commit " + HASH[:40] + " that fixed it",
    *("secretstorage==3.3.3", "js-tokens@4.0.0", "token-bucket 2.11.0-beta.12", "argon2id$v=19"),
    *("docker run -u 1000:1000 img", "git push -u origin main", "curl -u $USER:$PASS https://x"),
    "curl -u user:password https://x.example.net",
    *("postgres://postgres:postgres@localhost", "amqp://guest:guest@mq", "redis://:@h"),
    "postgres://app:$PGPASSWORD@db1 and postgres://app:{password}@db1",
    "Password=value;",
    '"password": "Passwort", "passwordHint": "At least 8 characters!"',
    "_authToken=${NPM_TOKEN}",
    '{"auth": "' + b64("just a sentence") + '"}',
    "session=requests.Session() and session_id = uuid4()",
    "Cookie: session=<id>",
    "https://example.net/page?key=getting-started-guide-2024&token=csrf",
    "https://x.example.net/a/550e8400-e29b-41d4-a716-446655440000/secret-santa-2024-edition",
    "tests/fixtures/secret_key/test_password2_reset.py::test_token_v2",
    "com.example.security.token.JwtTokenProvider2Factory",
    "GITHUB_TOKEN is set by Actions; NPM_TOKEN: ${{ secrets.NPM_TOKEN }}",
    "autocomplete='new-password'",
    "the token is a1 and the password is in 1password2",
    "Discord MY_VERY.LONG.NAMES and NotAToken.abc123.def",
    "family 👩‍👩‍👧 and क्‍ष stay joined",
]


@pytest.mark.parametrize("name", VENDORS)
def test_a_vendors_key_goes_wherever_it_stands(name: str) -> None:
    key = VENDORS[name]
    for text in (f"Use {key} there.", f"`{key}`", f'x = "{key}",', f"a={key}\n", f"({key})", key):
        safe, report = redact_text(text, "content")
        assert key[12:] not in safe
        assert len(report) == 1
        assert len(safe) < len(text) - len(key) + 40


@pytest.mark.parametrize("place", PLACES)
def test_what_stands_in_a_secrets_place_goes(place: str) -> None:
    secret = PLACES[place]
    safe, report = redact_text(place % secret, "content")
    assert secret not in safe
    assert len(report) == 1
    before, _, after = (place % "\0").partition("\0")
    assert safe.startswith(before)
    assert safe.endswith(after)


@pytest.mark.parametrize("name", KEYS)
def test_a_private_key_goes_however_it_is_written(name: str) -> None:
    safe, report = redact_text(f"Before.\n{KEYS[name]}\nAfter: it.", "content")
    assert [one.kind for one in report] == ["private-key"]
    assert not [word for word in safe.split() if len(word) > 40 and "redacted" not in word]
    assert safe.startswith("Before.")
    assert safe.endswith("\nAfter: it.")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact_text(text, "content") == (text, ())


def test_letters_that_nobody_sees_do_not_hide_a_key() -> None:
    key = VENDORS["github"]
    for unseen in ("\u200b", "\u00ad", "\u2060\u200b", "\ufeff"):
        safe, report = redact_text(f"use {key[:9]}{unseen}{key[9:]} now", "content")
        assert len(report) == 1
        assert key[9:] not in safe


def test_two_keys_in_a_row_are_two() -> None:
    text = f"{KEYS['plain']}\n{KEYS['openssh']}\nand {VENDORS['npm']}"
    safe, report = redact_text(text, "content")
    assert {one.kind: one.count for one in report} == {"private-key": 2, "npm-token": 1}
    assert safe.endswith("and [redacted:npm-token]")


UNITS = [
    "-----BEGIN " + "PRIVATE KEY-----",
    "-----BEGIN " + "PRIVATE KEY-----\n" + "A" * 64 + "\n",
    *("eyJ", "eyJaaaaaaaa.", "curl ", "curl -u ", "uid=", "uid=a;", "host=a ", "Password=a;"),
    *("machine a login b ", "://a:", "https://aaaaaaaaaaaaaaaaaaaa", "?password=", "session="),
    *(
        "token is ",
        "password: ",
        "password='",
        "Private-Lines: 1\n",
        "A1b2C3d4",
        "M",
        "\u200b",
        "=",
    ),
    *("bearer ", "authorization: token ", '"auth":"', "_authToken=", "discord.com/api/webhooks/1/"),
    *("key-", "a.b.c.", "secret_", "M" * 24 + "."),
]
SIGNS = (
    "password passwd pwd secret token http:// sk- eyJ bearer authorization machine -u --user "
    'curl base64, "d" "kty" private key private-lines: sess sid= cookie csrf jdbc: sig= -us '
    'nral q~ heroku discord accountkey= _auth "auth" :aa '
)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", UNITS)
def test_a_long_run_of_one_pattern_does_not_stall(unit: str) -> None:
    # The time limit is the judge: a fifth of a second is usual, quadratic time would be minutes.
    redact_text(SIGNS + unit * (100_000 // len(unit)), "content")
