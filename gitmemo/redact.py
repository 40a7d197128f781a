"""Redaction: what looks like a secret is replaced before anything is written.

History keeps every word for ever, so a store must never see a key. Two kinds of rules: shapes that
only secrets have (a vendor's prefix, a private key's frame), and values that stand behind a word
such as `password` and do not read like words themselves. Hashes, UUIDs, embedded pictures, code
that mentions a secret without holding one, and documented examples stay: a redaction that eats
knowledge would be switched off. There is no way to switch it off. Never here: disk, what to do
about secrets that slipped through. Tests: tests/gitmemo/test_redact.py.

Redact first, then validate: a placeholder may be longer than what it replaces.
"""

import re
from collections.abc import Callable
from math import log2
from typing import NamedTuple

from gitmemo.model import Draft, Redaction


class Rule(NamedTuple):
    """A shape of secrets: `kind` names it in the placeholder; it is tried where the lower-cased
    text holds one of `signs`; the secret is the group `secret`, or the whole match; `accept` looks
    closer at it."""

    kind: str
    signs: tuple[str, ...]
    pattern: str
    accept: Callable[[str], bool]


def redact(draft: Draft) -> tuple[Draft, tuple[Redaction, ...]]:
    """`draft` with secrets replaced by `[redacted:<kind>]`, and what was replaced where. Paths,
    branches and anchors stay as they are: they name things, and must go on naming them."""
    found: list[Redaction] = []

    def clean(text: str, field: str) -> str:
        safe, redactions = redact_text(text, field)
        found.extend(redactions)
        return safe

    safe = draft._replace(
        title=clean(draft.title, "title"),
        summary=clean(draft.summary, "summary"),
        keywords=tuple(clean(keyword, "keywords") for keyword in draft.keywords),
        content=clean(draft.content, "content"),
    )
    return safe, _summed(found)


def redact_text(text: str, field: str) -> tuple[str, tuple[Redaction, ...]]:
    """The same for one text, such as a withdrawal's reason; `field` names it in the report."""
    found: list[Redaction] = []
    lower = text.lower()
    for rule in RULES:
        if any(sign in lower for sign in rule.signs):
            text = _apply(rule, text, field, found)
    return text, _summed(found)


def _apply(rule: Rule, text: str, field: str, found: list[Redaction]) -> str:
    pattern = _compiled(rule.pattern)
    pictures = [m.span() for m in _compiled(_PICTURE).finditer(text)] if "base64," in text else []

    def replace(match: re.Match[str]) -> str:
        group = "secret" if "secret" in pattern.groupindex else 0
        start, end = match.span(group)
        inside = any(a <= start and end <= b for a, b in pictures)
        if inside or "[redacted:" in match[group] or not rule.accept(match[group]):
            return match[0]
        found.append(Redaction(rule.kind, field, 1))
        before, after = start - match.start(), end - match.start()
        return f"{match[0][:before]}[redacted:{rule.kind}]{match[0][after:]}"

    return pattern.sub(replace, text)


def _compiled(pattern: str) -> re.Pattern[str]:
    # At the first text that shows a sign of it: thirty patterns cost milliseconds.
    if pattern not in _COMPILED:
        _COMPILED[pattern] = re.compile(pattern)
    return _COMPILED[pattern]


_COMPILED: dict[str, re.Pattern[str]] = {}


def _summed(found: list[Redaction]) -> tuple[Redaction, ...]:
    totals: dict[tuple[str, str], int] = {}
    for kind, field, n in found:
        totals[kind, field] = totals.get((kind, field), 0) + n
    return tuple(Redaction(kind, field, n) for (kind, field), n in totals.items())


# -- what a secret is not --------------------------------------------------------------------------

_PLACEHOLDER = re.compile(
    r"x{4,}|\*{3,}|\.{3}|…|\A[<{\[$%]|\Aarn:|\$\{|\{\{|\A\w*<|example|sample|changeme|change[-_]me|"
    r"placeholder|dummy|your[-_]|insert[-_]|redacted|not[-_]?a[-_]?secret|0{8}|12345678|abcdefgh",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HASH_PREFIX = re.compile(r"(?:sha\d*|md5|blake\w*|crc\w*)[-:=]", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-fA-F]+")
_SYMBOLS = re.compile(r"[^A-Za-z0-9]")
_LONG_LETTERS = re.compile(r"[A-Z]?[a-z]{4,}|[A-Z]{5,}")
_DUMMY_PASSWORDS = frozenset(
    """
    password passwd pass pwd pw secret token user username root admin test hunter2 foo bar
    none null true false string str bytes required optional localhost guest postgres
    """.split()  # noqa: SIM905 - as quoted words this line would be a page
)


def _entropy(value: str) -> float:
    """Shannon's, in bits a character."""
    n = len(value)
    return -sum(k / n * log2(k / n) for k in (value.count(c) for c in set(value)))


def _classes(value: str) -> int:
    """How many of lower case, upper case, digits and symbols `value` has."""
    return (
        any(c.islower() for c in value)
        + any(c.isupper() for c in value)
        + any(c.isdigit() for c in value)
        + bool(_SYMBOLS.search(value))
    )


def _wordy(value: str) -> bool:
    """Whether most of `value` is runs of letters as words have them."""
    return sum(len(run) for run in _LONG_LETTERS.findall(value)) * 2 > len(value)


def _shaped(secret: str) -> bool:
    """A vendor's shape: everything but documented examples and obvious fillers."""
    return not re.search(r"EXAMPLE|example|x{6,}|X{6,}|\*{3,}|0{12}|…|\.{3}", secret) and (
        len(set(secret)) > 6
    )


def _random(secret: str) -> bool:
    """A value behind a secret word that is random enough to be one."""
    if _PLACEHOLDER.search(secret) or _UUID.fullmatch(secret) or _HASH_PREFIX.match(secret):
        return False
    if _HEX.fullmatch(secret):
        return len(secret) >= 32 and _entropy(secret) >= 3.0
    return (
        len(secret) >= 12
        and any(c.isdigit() for c in secret)
        and any(c.isalpha() for c in secret)
        and _entropy(secret) >= 3.0
        and not _wordy(secret)
    )


def looks_random(word: str) -> bool:
    """Whether `word` is what only a generator writes, and no hash."""
    return not _HEX.fullmatch(word) and _random(word)


def _password(secret: str) -> bool:
    """A quoted literal behind `password`: people choose poor ones, so the bar is lower."""
    return (
        len(secret) >= 6
        and secret.lower() not in _DUMMY_PASSWORDS
        and not _PLACEHOLDER.search(secret)
        and not _UUID.fullmatch(secret)
        and (_classes(secret) >= 3 or (_classes(secret) == 2 and not _wordy(secret)))
    )


def _in_url(secret: str) -> bool:
    return secret.lower() not in _DUMMY_PASSWORDS and not _PLACEHOLDER.search(secret)


def _bare_password(secret: str) -> bool:
    """Unquoted it may be a type or a name; with a digit in it, it is none of the usual ones."""
    return _password(secret) and any(c.isdigit() for c in secret)


def _framed(secret: str) -> bool:
    """A key between its frame lines, not code that speaks of the frame."""
    return re.search(r"[A-Za-z0-9+/=]{30}", secret) is not None


def _certain(_secret: str) -> bool:
    return True


# -- what a secret is ------------------------------------------------------------------------------

_EDGE = r"(?<![A-Za-z0-9_-])"
_END = r"(?![A-Za-z0-9_-])"
_WORD = (
    r"(?:api|access|auth|secret|private|signing|encryption|master|account|app|client|consumer|"
    r"service)[-_ ]?(?:key|token|secret)|secret|token|credentials?|password|passwd|passphrase|pwd"
)
# Where a name's last part may start: at its head, after `_`, `-`, `.` or a digit, or at a capital
# (`dbPassword`); not after a colon, as in `arn:…:secret:name`.
_START = r"(?:(?<![A-Za-z:])|(?-i:(?<=[a-z])(?=[A-Z])))"
# A name that ends in a secret word, perhaps quoted as a JSON key, then what gives it its value.
_GIVES = (
    rf"{_START}(?:{_WORD})(?:[-_](?:id|value|key|base64))?"
    r"""["'`]?\s{0,3}(?::=|=>|=|:|\bis\b|\bwas\b)\s{0,3}"""
)

_WORDS = ("key", "token", "secret", "credential", "passw", "passphrase", "pwd")

RULES: tuple[Rule, ...] = (
    Rule(
        "private-key",
        ("private key",),
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?s:.*?)(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        _framed,
    ),
    Rule("private-key", ("age-secret-key-",), r"AGE-SECRET-KEY-1[0-9A-Z]{58}", _certain),
    Rule(
        "jwt",
        ("eyj",),
        rf"{_EDGE}eyJ[A-Za-z0-9_-]{{8,}}\.eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{16,}}",
        _shaped,
    ),
    Rule(
        "aws-key",
        ("akia", "asia", "abia", "acca"),
        rf"{_EDGE}(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{{16}}{_END}",
        _shaped,
    ),
    Rule(
        "github-token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        rf"{_EDGE}(?:gh[pousr]_[A-Za-z0-9]{{36,255}}|github_pat_\w{{22,}})",
        _shaped,
    ),
    Rule(
        "gitlab-token",
        ("glpat-", "glptt-", "gldt-", "glrt-", "glsoat-", "glcbt-"),
        rf"{_EDGE}gl(?:pat|ptt|dt|rt|soat|cbt)-[A-Za-z0-9_-]{{20,}}",
        _shaped,
    ),
    Rule("slack-token", ("xox",), rf"{_EDGE}xox[abeoprs]-[A-Za-z0-9-]{{10,}}", _shaped),
    Rule(
        "slack-webhook",
        ("hooks.slack.com",),
        r"https://hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_-]{20,})",
        _shaped,
    ),
    Rule(
        "stripe-key",
        ("k_live_", "k_test_", "whsec_"),
        rf"{_EDGE}(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{{16,}}",
        _shaped,
    ),
    Rule(
        "api-key", ("sk-",), rf"{_EDGE}sk-(?:ant-|proj-|or-|svcacct-)?[A-Za-z0-9_-]{{20,}}", _random
    ),
    Rule("google-key", ("aiza",), rf"{_EDGE}AIza[A-Za-z0-9_-]{{35}}{_END}", _shaped),
    Rule(
        "google-token",
        ("ya29.", "gocspx-"),
        rf"{_EDGE}(?:ya29\.[A-Za-z0-9_-]{{20,}}|GOCSPX-[A-Za-z0-9_-]{{28}})",
        _shaped,
    ),
    Rule("npm-token", ("npm_",), rf"{_EDGE}npm_[A-Za-z0-9]{{36}}{_END}", _shaped),
    Rule("pypi-token", ("pypi-",), rf"{_EDGE}pypi-[A-Za-z0-9_-]{{50,}}", _shaped),
    Rule("huggingface-token", ("hf_",), rf"{_EDGE}hf_[A-Za-z0-9]{{30,}}{_END}", _shaped),
    Rule(
        "sendgrid-key", ("sg.",), rf"{_EDGE}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}", _shaped
    ),
    Rule("digitalocean-token", ("_v1_",), rf"{_EDGE}do[opr]_v1_[a-f0-9]{{64}}{_END}", _shaped),
    Rule("docker-token", ("dckr_pat_",), rf"{_EDGE}dckr_pat_[A-Za-z0-9_-]{{20,}}", _shaped),
    Rule("vault-token", ("hvs.", "hvb."), rf"{_EDGE}hv[sb]\.[A-Za-z0-9_-]{{24,}}", _shaped),
    Rule("databricks-token", ("dapi",), rf"{_EDGE}dapi[a-f0-9]{{32}}{_END}", _shaped),
    Rule(
        "shopify-token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        rf"{_EDGE}shp(?:at|ca|pa|ss)_[a-fA-F0-9]{{32}}{_END}",
        _shaped,
    ),
    Rule("linear-key", ("lin_api_",), rf"{_EDGE}lin_api_[A-Za-z0-9]{{40}}{_END}", _shaped),
    Rule("telegram-token", (":aa",), rf"{_EDGE}[0-9]{{8,10}}:AA[A-Za-z0-9_-]{{33}}{_END}", _shaped),
    Rule(
        "azure-key", ("accountkey=",), r"AccountKey=(?P<secret>[A-Za-z0-9+/]{80,}={0,2})", _shaped
    ),
    # The user may be empty (redis), the password may hold anything up to the last @ of a host.
    Rule(
        "password",
        ("://",),
        r"\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s/:@\"'`<>\[]{0,128}:"
        r"(?P<secret>[^\s/\"'`<>]{1,256})@(?=[^\s/@])",
        _in_url,
    ),
    Rule("token", ("://",), r"\bhttps?://(?P<secret>[A-Za-z0-9_-]{20,})@(?=[^\s/@])", _random),
    Rule(
        "authorization",
        ("bearer", "basic", "authorization"),
        r"(?i:\bbearer|\bbasic|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:token|apikey))\s+"
        r"(?P<secret>[A-Za-z0-9._~+/-]{16,}={0,2})",
        _random,
    ),
    Rule(
        "password",
        ("password", "passwd", "passphrase", "pwd"),
        rf"(?i:{_START}(?:password|passwd|passphrase|pwd))[\"'`]?\s{{0,3}}"
        r"(?::=|=>|=|:)\s{0,3}(?P<q>[\"'`])(?P<secret>[^\"'`\n]{6,128})(?P=q)",
        _password,
    ),
    Rule("secret", _WORDS, rf"(?i:{_GIVES})[\"'`](?P<secret>[^\s\"'`]{{12,512}})[\"'`]", _random),
    # Unquoted, as in an env file: only what cannot be an expression (no call, index, attribute).
    Rule(
        "secret",
        _WORDS,
        rf"(?i:{_GIVES})(?P<secret>[A-Za-z0-9+/_=~!@#%^&*-]{{12,512}})(?![\w(\[.+/=])",
        _random,
    ),
    Rule(
        "password",
        ("password", "passwd", "passphrase"),
        r"(?:(?im:^[ \t]*(?:export[ \t]+)?\w*(?:PASSWORD|PASSWD|PASSPHRASE)[ \t]*[=:][ \t]*)"
        r"|(?<![A-Za-z0-9_])[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE)=)"
        r"(?P<secret>[A-Za-z0-9+/_=~!@#%^&*-]{6,128})(?=\s|\Z)",
        _bare_password,
    ),
    Rule(
        "password",
        ("machine",),
        r"(?i:\bmachine\s+\S+\s+login\s+\S+\s+password\s+)(?P<secret>\S{4,})",
        _in_url,
    ),
)
"""The rules, tried in this order; what one has replaced, later ones leave. Every repetition that
can start anywhere is bounded, so that a megabyte of one letter costs a megabyte's time."""

# Embedded data: base64 hits every short pattern sooner or later by chance.
_PICTURE = r"data:[a-z]{1,40}/[a-z0-9.+-]{1,80}(?:;[a-z0-9=-]{1,80}){0,4};base64,[A-Za-z0-9+/=]+"
