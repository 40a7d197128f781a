"""Secrets go, knowledge stays, and the report says what went."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmemo.model import Anchor, Draft, Redaction
from gitmemo.redact import redact, redact_text

# Every secret below is made up for this file; pieces are joined so that no scanner of this
# repository takes a test for a leak.
PEM = (
    "-----BEGIN RSA "
    + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA7Zq0Kx9vLm3Rt8Yb\nq1w2e3\n-----END RSA PRIVATE KEY-----"
)
SECRETS = [
    ("AWS_ACCESS_KEY_ID=AKIA" + "Q7R3ZB5K2WNPLD4T", "AKIA" + "Q7R3", "aws-key"),
    ("aws_secret_access_key = wJ7lrXUtnFEMIK7MDENGbPxRfiCYzt93k1Lq0Ab2", "wJ7lrX", "secret"),
    ("pushed with ghp_" + "a8Fj2kLm9QwErTyUiOpAsDfGhJkLzXcVbNm12", "ghp_", "github-token"),
    ("glpat-" + "x9Kd83LmQp01ZtRw_-4s", "glpat-", "gitlab-token"),
    ("xoxb-" + "1234567890-abcdefGHIJ", "xoxb-", "slack-token"),
    (
        "https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/q1W2e3R4t5Y6u7I8",
        "q1W2",
        "webhook",
    ),
    ("sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc", "sk_live_", "stripe-key"),
    ("sk-proj-" + "4fK9sLq2ZxV7bN1mC8dT0yRw", "sk-proj-", "api-key"),
    ("sk-ant-api03-" + "Qw7Er8Ty9Ui0Op1As2Df3", "sk-ant", "api-key"),
    ("AIza" + "SyD4k9Lm2Qp7Rt5Vx8Zb1Nc3Fg6Hj0Kw4Es", "AIza", "google-key"),
    ("npm_" + "q8Wj3kLm9QwErTyUiOpAsDfGhJkLzXcVbNm1", "npm_", "npm-token"),
    ("eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NSJ9.dozjgNryP4J3jVmNHl0w5N", "dozjg", "jwt"),
    (PEM, "MIIEow", "private-key"),
    (PEM.partition("-----END")[0], "MIIEow", "private-key"),
    ("postgres://app:s3cr3tP4ss@db.internal:5432/x", "s3cr3tP4ss", "password"),
    ("redis://:k9xQ22aa@localhost", "k9xQ22aa", "password"),
    ("https://oauth:p@ss:w0rd@example.net/x.git", "p@ss:w0rd", "password"),
    ("https://a8Fj2kLm9QwErTyUiOpA@example.net/x.git", "a8Fj2k", "token"),
    ('password = "Summer2024!"', "Summer2024!", "password"),
    ("{'password': 'tr0ub4dor&3'}", "tr0ub4dor&3", "password"),
    ("DB_PASSWORD=tr0ub4dor3\nDB_HOST=db1", "tr0ub4dor3", "password"),
    ('"api_key": "8f14e45fceea167a5a36dedd4bea2543"', "8f14e45f", "secret"),
    ("SECRET_KEY = 'k9x!k2#v7q&zr5w@1p8l$m3n'", "k9x!k2", "secret"),
    ("client_secret: Zx8~kQ2mN5vB7cL9pR3t", "Zx8~kQ", "secret"),
    ('dbPassword: "q8Zk21xx!"', "q8Zk21xx", "password"),
    ("awsSecretKey=wJ7lrXUtnFEMIK7MDENGbPxRfiCYzt93k1Lq0Ab2", "wJ7lrX", "secret"),
    ("the token is 9aXk2LmQ8rTz5Wv1", "9aXk2L", "secret"),
    ("Authorization: Bearer 3kTMd8sPQz91LmVbX0aYcR", "3kTMd8", "authorization"),
    ("machine git.example.net login bot password q8Zk21xx", "q8Zk21xx", "password"),
]
HARMLESS = [
    "commit 8177844715897290c378bcee96b1ae7b2794eb14 fixes it",
    "sha256:fb068ad6c0243a5875e7c61f94d65c14faaadafff78108f1c1ad023913d9dba8",
    "token sha256:fb068ad6c0243a5875e7c61f94d65c14faaadafff78108f1c1ad023913d9dba8",
    "integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NFPZsXdl+oUUuX==",
    "id = 550e8400-e29b-41d4-a716-446655440000",
    "token = 550e8400-e29b-41d4-a716-446655440000",
    'password_hash = "5f4dcc3b5aa765d61d8327deb882cf99"',
    "AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAsk-4fK9sLq2ZxV7bN1mC8dT0yRw)".replace(
        "sk-", "AIza"
    ),
    "password = get_password2(user)",
    "password: str | None = None",
    'password = "password"',
    'password = "<your password here 1!>"',
    'secret = os.environ["MY_SECRET_TOKEN2"]',
    "auth_token = hashlib.sha256(x1).hexdigest()",
    "https://user:password@example.com",
    "https://${USER}:${PASS}@host",
    "https://user:<password>@host",
    "http://localhost:3000/a:b@c",
    "http://host:8080/icon@2x.png",
    "git@github.com:owner/repo.git",
    "token = tokens[0].value2",
    "token = parser.next_token2",
    "token: parseHTTP2ResponseHandler",
    "api_key = settings.API_KEY2_VALUE",
    "access_token=<token>",
    "max_tokens = 4096000000000",
    "The password is checked by verify_password2hash.",
    "Bearer authentication is required by section1234.",
    'secret_key: "your-secret-key-here-123"',
    "sk-learn-is-a-library-for-machine-learning",
    "task-abcdefghijklmnop123456789 and risk-abc123def456ghi789jkl0",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQ\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB7w me@host",
    "Tokens per second: 12345678901234",
    "    password: FilterOrBool",
    "DB_PASSWORD: SecretStr",
    "starts with -----BEGIN RSA PRIVATE KEY----- and ends with -----END RSA PRIVATE KEY-----",
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestSecret-a1b2c3",
    'encryptionKey": "arn:aws:kms:us-west-2:417498243647:key/c9fe2447-0795"',
]


@pytest.mark.parametrize(("text", "part", "kind"), SECRETS)
def test_a_secret_is_replaced_and_reported(text: str, part: str, kind: str) -> None:
    safe, report = redact_text(f"Before. {text}\nAfter.", "content")
    assert part not in safe
    assert f"[redacted:{kind}]" in safe
    assert safe.startswith("Before.")
    assert report == (Redaction(kind, "content", 1),)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_text(text, "content") == (text, ())


def test_only_the_password_of_an_address_goes() -> None:
    safe, _ = redact_text("postgres://app:s3cr3tP4ss@db.internal:5432/x", "summary")
    assert safe == "postgres://app:[redacted:password]@db.internal:5432/x"


def test_a_secret_after_a_picture_is_still_found() -> None:
    text = "data:image/png;base64,iVBORw0KGgo= then DB_PASSWORD='k9x2Lm4Qp!'"
    safe, report = redact_text(text, "content")
    assert "k9x2" not in safe
    assert "iVBORw0KGgo=" in safe
    assert len(report) == 1


def test_every_text_field_is_cleaned_and_names_stay() -> None:
    key = "AKIA" + "Q7R3ZB5K2WNPLD4T"
    draft = Draft(
        title=f"title {key}",
        summary=f"{key} and {key}",
        keywords=("cache", key),
        content=key,
        related_paths=(f"keys/{key}",),
        related_branches=(key,),
        anchors=(Anchor("sha256:" + "0" * 64, f"keys/{key}"),),
    )
    safe, report = redact(draft)
    assert key not in f"{safe.title}{safe.summary}{safe.keywords}{safe.content}"
    assert (safe.related_paths, safe.related_branches, safe.anchors) == draft[5:]
    assert report == (
        Redaction("aws-key", "title", 1),
        Redaction("aws-key", "summary", 2),
        Redaction("aws-key", "keywords", 1),
        Redaction("aws-key", "content", 1),
    )


@settings(max_examples=150)
@given(
    st.lists(
        st.one_of(
            st.sampled_from([text for text, _, _ in SECRETS]),
            st.sampled_from(HARMLESS),
            st.text(max_size=30),
        ),
        max_size=6,
    ).map("\n".join)
)
def test_redacting_twice_is_redacting_once(text: str) -> None:
    safe, _ = redact_text(text, "content")
    assert redact_text(safe, "content") == (safe, ())


@pytest.mark.parametrize(
    "unit", ["a", "1", "_", "a.", "-", "password_", 'pwd="', "http://a:", "key:"]
)
def test_a_long_text_of_one_pattern_does_not_stall(unit: str) -> None:
    # The suite's own time limit is the judge: quadratic time would take hours here.
    signs = "password secret token http:// sk- eyJ bearer machine base64, "
    redact_text(signs + unit * (300_000 // len(unit)), "content")
