"""What secrets look like, and what only looks like them: the table behind `redact`.

Three kinds of rows. TOKENS begin with letters that a vendor chose so that they can be known: the
prefix is looked for as a plain string, the rest decides. PATTERNS are places where a secret stands
(an address, a header, an assignment), and a judge looks at the value. Private keys have frames.
Shapes that nothing else has are replaced wherever they are; a value beside a word such as
`password` only where it does not read like a word, a type, a reference or a documented example: a
redaction that eats knowledge would be switched off. Every repetition that can start anywhere is
bounded, so that a megabyte of one letter costs a megabyte's time. Pure. Tests:
tests/gitmemo/test_redact.py, test_shapes.py.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from math import log2
from typing import NamedTuple


class Token(NamedTuple):
    """Secrets that begin with one of `prefixes` and go on as `rest`; `judge` looks closer."""

    kind: str
    prefixes: tuple[str, ...]
    rest: str
    judge: Callable[[str], bool]


class Pattern(NamedTuple):
    """A place where secrets stand, tried where the lower-cased text holds one of `signs`; the
    secret is the group `secret`. With `near` only in the arguments of such a command."""

    kind: str
    signs: tuple[str, ...]
    pattern: str
    judge: Callable[[str], bool]
    near: tuple[str, ...] = ()


# -- what a secret is not --------------------------------------------------------------------------

_FILLER = re.compile(
    r"x{4,}|\*{3,}|\.{3}|…|\A[<{\[$%]|\A(?:arn|vault|op|ssm|env|file|secret|sops|ref\+\w+):|\$\{|\{\{|"
    r"\A\w*<|example|sample|changeme|change[-_]?me|placeholder|dummy|your[-_]|\Ayour|insert[-_]|"
    r"redacted|not[-_]?a[-_]?secret|0{8}|12345678|abcdefgh|\Am[iy][-_]",
    re.IGNORECASE,
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HASH_PREFIX = re.compile(r"(?:sha\d*|md5|blake\w*|crc\w*|h1)[-:=]", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-fA-F]+")
_SYMBOLS = re.compile(r"[^A-Za-z0-9]")
_LONG_LETTERS = re.compile(r"[A-Z]?[a-z]{4,}|[A-Z]{5,}")
# Names and paths of things: parts that are words, with a number behind some.
_NAME = re.compile(r"/?(?:[A-Za-z]+\d{0,4}|\d{1,4})(?:[-_/.:@#]+(?:[A-Za-z]+\d{0,4}|\d{1,4}))+/?")
_ENDS_IN_DIGITS = re.compile(r"[A-Za-z]{3,}[-_.@#]?\d{2,}[!?.$#@*]{0,3}")
_SCHEME = re.compile(
    r"(?:sha|md|utf|base|argon|b?crypt|scrypt|pbkdf|aes|rsa|des|ed|int|uint|float|char|varchar|"
    r"string|str|text|token|pass(?:word|wd)?|pw|secret|user|test|foo|bar|arg|var|value|val|field|"
    r"param|step|line|section|chapter|page|v|version|python|oauth|http|ntlm|pkcs|win|windows|utc|"
    r"ascii|iso|rfc|latin|input|key|result|issue|bug)[-_]?\d+\w*",
    re.IGNORECASE,
)
_DUMMIES = frozenset(
    """
    password passwd passphrase pass pwd pw secret token credential credentials user username root
    admin test testing hunter2 foo bar baz qux none null nil true false
    undefined string str bytes
    text char varchar secretstr required optional localhost guest postgres mysql redis
    rabbitmq mongo
    minio default empty hidden toggle visible invalid incorrect wrong missing changed reset forgot
    forgotten correct enabled disabled input field label hash hashed plain plaintext encrypted
    masked
    prompt stdin value string! passwort kennwort contraseña senha
    """.split()  # noqa: SIM905 - as quoted words this line would be a page
)
# Printed in manuals, so that everybody may use them. In pieces, as other scanners know them too.
_DOCUMENTED = frozenset(
    {
        "sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc",
        "sk_test_" + "BQokikJOvBiI2HlWgH4olfQ2",
        "AIza" + "SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe",
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2U"
        + "VErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
        "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "YWxhZGRpbjpvcGVuc2VzYW1l",
        "dXNlcjpwYXNz",
        "dXNlcm5hbWU6cGFzc3dvcmQ=",
    }
)
_EXAMPLE_JWT = ("eyJzdWIiOiIxMjM0NTY3ODkw", "c3VwYWJhc2UtZGVtb", "SflKxwRJSMeKKF2QT4fwpMeJf36")


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


def shaped(secret: str) -> bool:
    """A vendor's shape: everything but documented examples and obvious fillers."""
    return (
        not re.search(r"EXAMPLE|example|x{6,}|X{6,}|\*{3,}|0{12}|…|\.{3}", secret)
        and len(set(secret)) > 6
        and secret not in _DOCUMENTED
    )


def random(secret: str) -> bool:
    """A value behind a secret word that is random enough to be one."""
    if _FILLER.search(secret) or _UUID.fullmatch(secret) or _HASH_PREFIX.match(secret):
        return False
    if secret in _DOCUMENTED:
        return False
    if _HEX.fullmatch(secret):
        return len(secret) >= 32 and _entropy(secret) >= 3.0
    return (
        len(secret) >= 12
        and any(c.isdigit() for c in secret)
        and any(c.isalpha() for c in secret)
        and _entropy(secret) >= 3.0
        and not _wordy(secret)
        and not _NAME.fullmatch(secret)
    )


def looks_random(word: str) -> bool:
    """Whether `word` is what only a generator writes, and no hash."""
    return not _HEX.fullmatch(word) and random(word)


def _no_dummy(secret: str) -> bool:
    """Where a password must stand: everything but fillers, references and the words of manuals."""
    return (
        secret.lower().rstrip("!") not in _DUMMIES
        and not _FILLER.search(secret)
        and secret not in _DOCUMENTED
    )


def _password(secret: str) -> bool:
    """A quoted literal behind `password`: people choose poor ones, so the bar is lower."""
    if not _no_dummy(secret) or _UUID.fullmatch(secret) or len(secret) < 6:
        return False
    if _ENDS_IN_DIGITS.fullmatch(secret):
        return not _SCHEME.fullmatch(secret)
    if _NAME.fullmatch(secret) or secret.startswith(("/", "~", "./")):
        return False
    return _classes(secret) >= 3 or (_classes(secret) == 2 and not _wordy(secret))


def _any_password(secret: str) -> bool:
    """Behind `PASSWORD=` in a file of settings, or `password='…'` in a call, also a plain word."""
    if secret.startswith(("/", "~", ".")) or _SCHEME.fullmatch(secret):
        return False
    return _no_dummy(secret) and not re.fullmatch(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*", secret)


def _bare_password(secret: str) -> bool:
    """Unquoted it may be a type or a name; with digits as people put them, it is none."""
    return _password(secret) and any(c.isdigit() for c in secret)


def _decoded(secret: str) -> bool:
    """`user:password` in base64."""
    if secret in _DOCUMENTED:
        return False
    try:
        said = b64decode(secret + "=" * (-len(secret) % 4), validate=True).decode("ascii")
    except (ValueError, binascii.Error):
        return False
    return ":" in said and said.isprintable() and _no_dummy(said.partition(":")[2])


def _session(secret: str) -> bool:
    """The value of a session's cookie: long, with digits, and no name."""
    return (
        not _FILLER.search(secret)
        and any(c.isdigit() for c in secret)
        and any(c.isalpha() for c in secret)
        and _entropy(secret) >= 3.0
        and not _NAME.fullmatch(secret)
    )


def _authorized(secret: str) -> bool:
    return random(secret) or _decoded(secret)


def _jwt(secret: str) -> bool:
    """Not those of the manuals, which stand in thousands of tests."""
    return shaped(secret) and not any(part in secret for part in _EXAMPLE_JWT)


def _certain(_secret: str) -> bool:
    return True


# -- private keys ----------------------------------------------------------------------------------

_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_FINISH = re.compile(r"-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BYTES = re.compile(r"[A-Za-z0-9+/=]{30}")
_KEY_LINES = re.compile(r"(?:(?:\\+[nrt]|[\s\"'+,>|:-])*[A-Za-z0-9+/=]{16,})+")
_KEY_LIMIT = 65536


def private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Where keys stand between their frame lines, however they are indented, quoted or escaped. A
    frame that was cut off goes as far as it reads like a key; code that speaks of it stays."""
    end = 0
    finish: re.Match[str] | None = None
    ahead = True
    for begin in _BEGIN.finditer(text):
        if begin.start() < end:
            continue
        if ahead and (finish is None or finish.start() < begin.end()):
            finish = _FINISH.search(text, begin.end())
            ahead = finish is not None
        if finish is not None and ahead and finish.start() - begin.end() <= _KEY_LIMIT:
            body = text[begin.end() : finish.start()]
            if "-----BEGIN" not in body and _KEY_BYTES.search(body):
                end = finish.end()
                yield begin.start(), end
                continue
        lines = _KEY_LINES.match(text, begin.end())
        if lines is not None and _KEY_BYTES.search(lines[0]):
            end = lines.end()
            yield begin.start(), end


# -- what a secret is ------------------------------------------------------------------------------

_END = r"(?![A-Za-z0-9_-])"
_URL64 = "[A-Za-z0-9_-]"
_ALNUM = "[A-Za-z0-9]"

TOKENS: tuple[Token, ...] = (
    Token("private-key", ("AGE-SECRET-KEY-",), r"(?:PQ-)?1[0-9A-Z]{50,}", _certain),
    Token("jwt", ("eyJ",), rf"{_URL64}{{8,}}\.eyJ{_URL64}{{8,}}\.{_URL64}{{16,}}", _jwt),
    Token(
        "jwt",
        ("eyJ",),
        rf"{_URL64}{{8,}}\.{_URL64}*\.{_URL64}{{8,}}\.{_URL64}{{16,}}\.{_URL64}{{16,}}",
        _jwt,
    ),
    Token("aws-key", ("AKIA", "ASIA", "ABIA", "ACCA"), rf"[A-Z2-7]{{16}}{_END}", shaped),
    Token("aws-key", ("ABSK",), r"[A-Za-z0-9+/]{100,}={0,2}", shaped),
    Token("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), rf"{_ALNUM}{{36,}}", shaped),
    Token("github-token", ("github_pat_",), r"\w{22,}", shaped),
    Token(
        "gitlab-token",
        (
            *("glpat-", "glptt-", "gldt-", "glrt-", "glsoat-", "glcbt-"),
            *("glft-", "glimt-", "glagent-", "gloas-", "glffct-"),
        ),
        r"[A-Za-z0-9_.-]{20,}",
        shaped,
    ),
    Token("atlassian-token", ("ATATT3", "ATCTT3"), r"[A-Za-z0-9_=-]{50,}", shaped),
    Token("bitbucket-token", ("ATBB",), rf"{_ALNUM}{{28,40}}{_END}", shaped),
    Token("slack-token", ("xox",), r"[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}", shaped),
    Token("slack-token", ("xapp-",), r"\d-[A-Za-z0-9-]{20,}", shaped),
    Token(
        "discord-token",
        ("M", "N", "O"),
        rf"{_URL64}{{23,27}}\.{_URL64}{{6}}\.{_URL64}{{27,40}}{_END}",
        shaped,
    ),
    Token(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
        rf"{_ALNUM}{{16,}}",
        shaped,
    ),
    Token("square-token", ("sq0atp-", "sq0csp-", "sq0idp-"), rf"{_URL64}{{22,}}", shaped),
    Token("square-token", ("EAAA",), rf"{_URL64}{{60}}{_END}", shaped),
    Token("facebook-token", ("EAACEdEose0cBA",), rf"{_ALNUM}{{20,}}", shaped),
    Token("paypal-token", ("access_token$production$",), r"[0-9a-z]{16}\$[0-9a-f]{32}", shaped),
    Token("api-key", ("sk-",), rf"(?:ant-|proj-|or-|svcacct-|admin-)?{_URL64}{{20,}}", random),
    Token("xai-key", ("xai-",), rf"{_ALNUM}{{60,}}", shaped),
    Token("groq-key", ("gsk_",), rf"{_ALNUM}{{40,}}", shaped),
    Token("replicate-key", ("r8_",), rf"{_ALNUM}{{37}}{_END}", shaped),
    Token("perplexity-key", ("pplx-",), rf"{_ALNUM}{{40,}}", shaped),
    Token("google-key", ("AIza",), rf"{_URL64}{{35}}{_END}", shaped),
    Token("google-token", ("ya29.",), rf"{_URL64}{{20,}}", shaped),
    Token("google-token", ("GOCSPX-",), rf"{_URL64}{{28}}", shaped),
    Token("npm-token", ("npm_",), rf"{_ALNUM}{{36}}{_END}", shaped),
    Token("pypi-token", ("pypi-",), rf"{_URL64}{{50,}}", shaped),
    Token("rubygems-token", ("rubygems_",), rf"[a-f0-9]{{48}}{_END}", shaped),
    Token("crates-token", ("cio",), rf"{_ALNUM}{{32}}{_END}", random),
    Token("huggingface-token", ("hf_", "api_org_"), rf"{_ALNUM}{{30,}}{_END}", shaped),
    Token("sendgrid-key", ("SG.",), rf"{_URL64}{{16,}}\.{_URL64}{{16,}}", shaped),
    Token("mailgun-key", ("key-",), rf"[0-9a-f]{{32}}{_END}", shaped),
    Token(
        "digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), rf"[a-f0-9]{{64}}{_END}", shaped
    ),
    Token("docker-token", ("dckr_pat_", "dckr_oat_"), rf"{_URL64}{{20,}}", shaped),
    Token("vault-token", ("hvs.", "hvb.", "hvr."), rf"{_URL64}{{24,}}", shaped),
    Token("databricks-token", ("dapi",), rf"[a-f0-9]{{32}}(?:-\d)?{_END}", shaped),
    Token(
        "shopify-token",
        ("shpat_", "shpca_", "shppa_", "shpss_"),
        rf"[a-fA-F0-9]{{32}}{_END}",
        shaped,
    ),
    Token("linear-key", ("lin_api_", "lin_oauth_"), rf"{_ALNUM}{{40,}}{_END}", shaped),
    Token("notion-token", ("secret_",), rf"{_ALNUM}{{43}}{_END}", random),
    Token("notion-token", ("ntn_",), rf"{_ALNUM}{{40,}}{_END}", shaped),
    Token("airtable-token", ("pat",), rf"{_ALNUM}{{14}}\.[a-f0-9]{{64}}{_END}", shaped),
    Token("figma-token", ("figd_", "figo_"), rf"{_URL64}{{36,}}", shaped),
    Token("grafana-token", ("glsa_",), rf"{_ALNUM}{{32}}_[a-fA-F0-9]{{8}}", shaped),
    Token("grafana-token", ("glc_eyJ", "eyJrIjoi"), r"[A-Za-z0-9+/]{40,}={0,3}", shaped),
    Token("cloudflare-key", ("v1.0-",), rf"[a-f0-9]{{24}}-[a-f0-9]{{146}}{_END}", shaped),
    Token("fly-token", ("fo1_", "fm1r_", "fm1a_", "fm2_"), r"[A-Za-z0-9+/_=-]{40,}", shaped),
    Token("heroku-token", ("HRKU-",), rf"{_URL64}{{30,}}", shaped),
    Token(
        "vercel-token", ("vcp_", "vci_", "vca_", "vcr_", "vck_"), rf"{_ALNUM}{{24,}}{_END}", shaped
    ),
    Token("netlify-token", ("nfp_", "nfc_", "nfo_", "nfu_"), rf"{_ALNUM}{{36,}}{_END}", shaped),
    Token("supabase-key", ("sbp_",), rf"(?:v0_)?[a-f0-9]{{40}}{_END}", shaped),
    Token("supabase-key", ("sb_secret_",), rf"{_URL64}{{24,}}", shaped),
    Token(
        "doppler-token",
        ("dp.",),
        r"(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}",
        shaped,
    ),
    Token("pulumi-token", ("pul-",), rf"[a-f0-9]{{40}}{_END}", shaped),
    Token("sentry-token", ("sntrys_",), r"[A-Za-z0-9+/=_]{60,}", shaped),
    Token("sentry-token", ("sntryu_",), rf"[a-f0-9]{{64}}{_END}", shaped),
    Token("newrelic-key", ("NRAK-", "NRII-", "NRIQ-"), r"[A-Za-z0-9_-]{24,}", shaped),
    Token("postman-key", ("PMAK-",), rf"[a-f0-9]{{24}}-[a-f0-9]{{34}}{_END}", shaped),
)
"""Tried in this order; a prefix counts where no letter, digit, `_` or `-` stands before it."""

_EDGE = r"(?<![A-Za-z0-9_-])"
_WORD = (
    r"(?:api|access|auth|secret|private|signing|encryption|master|account|app|client|consumer|"
    r"service|license|storage|session|subscription|webhook|deploy|bot|shared[-_ ]?access)"
    r"[-_ ]?(?:key|token|secret)|secret|token|credentials?|password|passwd|passphrase|pwd"
)
# Where a name's last part may start: at its head, after `_`, `-`, `.` or a digit, or at a capital
# (`dbPassword`); not after a colon, as in `arn:…:secret:name`.
_START = r"(?:(?<![A-Za-z:])|(?-i:(?<=[a-z])(?=[A-Z])))"
# A name that ends in a secret word, perhaps quoted as a JSON key, then what gives it its value.
_GIVES = (
    rf"{_START}(?:{_WORD})(?:[-_](?:id|value|key|base64))?"
    r"""["'`]?\s{0,3}(?::=|=>|=|:|\bis\b|\bwas\b)\s{0,3}"""
)
_BEHIND = r"(?:password|passwd|passphrase|pwd)"
_WORDS = ("key", "token", "secret", "credential", "passw", "passphrase", "pwd")
_PASSWORDS = ("password", "passwd", "passphrase", "pwd")
_DB_KEYS = (
    r"(?:server|data source|host|hostname|user id|uid|user|username|database|dbname|port|"
    r"initial catalog|endpoint)"
)
_SESSIONS = (
    r"PHPSESSID|JSESSIONID|ASPSESSIONID\w{0,20}|ASP\.NET_SessionId|connect\.sid|session_?id|session|"
    r"sid|_\w{1,40}_session|laravel_session|csrftoken|XSRF-TOKEN|remember_(?:user_)?token|"
    r"__(?:Secure|Host)-[\w.-]{1,60}|wordpress_logged_in_\w{1,64}|auth_?cookie|access_token|\.AspNetCore\.\w{1,60}"
)

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "private-key",
        ("private-lines:",),
        r"Private-Lines: ?\d{1,3}(?:[ \t]*\r?\n|\\n)"
        r"(?P<secret>(?:[ \t>|]{0,40}[A-Za-z0-9+/=]{4,80}[ \t]{0,8}(?:\r?\n|\\n|\Z)){1,400})",
        _certain,
    ),
    Pattern(
        "private-key",
        ('"kty"',),
        r'"d"\s{0,3}:\s{0,3}"(?P<secret>[A-Za-z0-9_-]{40,2048})"',
        _certain,
    ),
    Pattern(
        "webhook",
        ("hooks.slack.com", "discord", "webhook.office.com"),
        r"https://(?:hooks\.slack\.com/(?:services|workflows|triggers)/|"
        r"(?:\w{1,10}\.)?discord(?:app)?\.com/api/webhooks/\d{5,25}/|"
        r"[\w-]{1,60}\.webhook\.office\.com/webhookb2/)(?P<secret>[A-Za-z0-9/_@-]{20,})",
        shaped,
    ),
    Pattern(
        "telegram-token",
        (":aa",),
        rf"(?:{_EDGE}|(?<=/bot))(?P<secret>[0-9]{{8,10}}:AA[A-Za-z0-9_-]{{33}}){_END}",
        shaped,
    ),
    Pattern(
        "mailchimp-key", ("-us",), rf"{_EDGE}(?P<secret>[0-9a-f]{{32}}-us\d{{1,2}}){_END}", shaped
    ),
    Pattern("newrelic-key", ("nral",), rf"{_EDGE}(?P<secret>[0-9a-zA-Z]{{36}}NRAL){_END}", shaped),
    Pattern(
        "azure-key",
        ("q~",),
        r"(?<![A-Za-z0-9_~.-])(?P<secret>[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])",
        shaped,
    ),
    Pattern(
        "azure-key",
        ("accountkey=", "sharedaccesskey="),
        r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,100}={0,2})",
        shaped,
    ),
    Pattern("azure-key", ("sig=",), r"[?&;]sig=(?P<secret>[A-Za-z0-9%+/_-]{40,120}={0,2})", shaped),
    Pattern(
        "heroku-token",
        ("heroku",),
        r"(?i:heroku[-_ ]?(?:api[-_ ]?)?key)\W{1,5}"
        r"(?P<secret>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})",
        shaped,
    ),
    # The user may be empty (redis), the password may hold anything up to the last @ of a host.
    Pattern(
        "password",
        ("://",),
        r"\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://[^\s/:@\"'`<>\[]{0,128}:"
        r"(?P<secret>[^\s/\"'`<>]{1,256})@(?=[^\s/@])",
        _no_dummy,
    ),
    # Not the public key of an error tracker's address: it ships to every browser.
    Pattern(
        "token",
        ("://",),
        r"\bhttps?://(?P<secret>[A-Za-z0-9_-]{20,255})@(?=[^\s/@])(?![^\s/]{0,99}(?:sentry|bugsink|glitchtip)[^\s/]{0,99}/\d)",
        random,
    ),
    Pattern(
        "password",
        ("jdbc:", "://", "?pass", "&pass"),
        r"(?i:[?&;](?:password|passwd|pwd|pass)=)(?P<secret>[^\s&\"'`<>;#]{1,128})",
        _no_dummy,
    ),
    Pattern(
        "token",
        ("://",),
        r"(?i:[?&](?:access_?token|auth_?token|refresh_?token|id_token|token|api_?key|key|secret|"
        r"client_secret|code|x-amz-security-token)=)(?P<secret>[A-Za-z0-9._~%+/-]{16,2048})",
        random,
    ),
    Pattern(
        "password",
        ("password", "pwd"),
        rf"(?i:\b{_DB_KEYS}\s?=[^;\n\"']{{0,100}};(?:[^;\n\"'=]{{1,40}}=[^;\n\"']{{0,100}};){{0,8}}?\s?"
        r"(?:password|pwd)\s?=\s?)(?P<secret>[^;\"'\n]{1,128})",
        _no_dummy,
    ),
    Pattern(
        "password",
        ("password", "pwd"),
        rf"(?i:\b(?:password|pwd)\s?=\s?)(?P<secret>[^;\"'\n]{{1,128}})(?i:;\s?{_DB_KEYS}\s?=)",
        _no_dummy,
    ),
    Pattern(
        "password",
        ("password=",),
        r"\b(?:host|user|dbname|port|hostaddr|sslmode)=[^\s\"']{1,100} {1,3}"
        r"(?:\w{1,20}=[^\s\"']{1,100} {1,3}){0,6}?password=(?P<secret>[^\s\"']{1,128})",
        _no_dummy,
    ),
    Pattern(
        "password",
        ("-u", "--user", "--proxy-user"),
        r"(?<=\s)(?:-u|--user|--proxy-user|-U)[ =]{0,2}[\"']?"
        r"[^\s:\"']{1,64}:(?P<secret>[^\s\"']{1,128})",
        _no_dummy,
        near=("curl", "wget"),
    ),
    Pattern(
        "authorization",
        ("bearer", "basic", "authorization"),
        r"(?i:\bbearer|\bbasic|authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:token|apikey|bot|negotiate|\w{1,20}key)?)\s{1,3}"
        r"(?P<secret>[A-Za-z0-9._~+/-]{8,4096}={0,2})",
        _authorized,
    ),
    Pattern(
        "registry-auth",
        ("_auth", ":_password"),
        r"_(?:authToken|auth|password)\s?=\s?[\"']?(?P<secret>[^\s$\"'<>{}()\[\]]{8,4096})",
        _no_dummy,
    ),
    Pattern(
        "registry-auth",
        ('"auth"',),
        r'"auth"\s{0,3}:\s{0,3}"(?P<secret>[A-Za-z0-9+/]{8,4096}={0,2})"',
        _decoded,
    ),
    Pattern(
        "session",
        ("sess", "sid=", "cookie", "token=", "csrf"),
        rf"(?i:{_EDGE}(?:{_SESSIONS}))=(?P<secret>[A-Za-z0-9._~%+/:-]{{16,4096}})",
        _session,
    ),
    Pattern(
        "password",
        _PASSWORDS,
        rf"(?i:{_START}{_BEHIND})[\"'`]?\s{{0,3}}(?::=|=>|=|:)\s{{0,3}}(?P<q>[\"'`])"
        r"(?P<secret>[^\"'`\n]{6,128})(?P=q)",
        _password,
    ),
    Pattern(
        "password",
        _PASSWORDS,
        rf"(?i:{_START}{_BEHIND})\s?=\s?(?P<q>[\"'])(?P<secret>[^\s\"'`<>{{}}$]{{6,128}})(?P=q)",
        _any_password,
    ),
    Pattern("secret", _WORDS, rf"(?i:{_GIVES})[\"'`](?P<secret>[^\s\"'`]{{12,512}})[\"'`]", random),
    # Unquoted, as in an env file: only what cannot be an expression (no call, index, attribute).
    Pattern(
        "secret",
        _WORDS,
        rf"(?i:{_GIVES})(?P<secret>[A-Za-z0-9+/_=~!@#%^&*-]{{12,512}})(?![\w(\[.+/=])",
        random,
    ),
    Pattern(
        "password",
        _PASSWORDS,
        r"(?:(?im:^[ \t]*(?:export[ \t]+)?\w*(?:PASSWORD|PASSWD|PASSPHRASE)[ \t]*[=:][ \t]*)"
        r"|(?<![A-Za-z0-9_])[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE)=)"
        r"(?P<secret>[A-Za-z0-9+/_=~!@#%^&*-]{6,128})(?=\s|\Z)",
        _bare_password,
    ),
    # In capitals and without blanks it is an environment, where also a plain word is a value.
    Pattern(
        "password",
        _PASSWORDS,
        r"(?<![A-Za-z0-9_])[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE|_PWD|_PASS)="
        r"(?P<secret>[A-Za-z0-9+/_=~!@#%^&*.-]{5,128})(?=\s|\\n|\Z)",
        _any_password,
    ),
    # `password=hunter22`, `passwd: Sommer2024`, `the password was Sommer2024.`
    Pattern(
        "password",
        _PASSWORDS,
        rf"(?i:{_START}{_BEHIND}(?:=|:\s{{0,3}}|\s(?:is|was):?\s))(?P<secret>[A-Za-z]{{3,40}}[-_.@#]?\d{{2,10}}[!?$#@*]{{0,3}})"
        r"(?![\w(\[./:-]*[\w(\[])",
        _password,
    ),
    Pattern(
        "password",
        ("machine", "default login"),
        r"(?i:\b(?:machine\s{1,20}\S{1,256}|default)\s{1,20}login\s{1,20}\S{1,256}\s{1,20}password\s{1,20})(?P<secret>\S{4,256})",
        _no_dummy,
    ),
)
"""Tried in this order; what one has replaced, later ones leave."""

# Embedded data: base64 hits every short pattern sooner or later by chance.
PICTURE = r"data:[a-z]{1,40}/[a-z0-9.+-]{1,80}(?:;[a-z0-9=-]{1,80}){0,4};base64,[A-Za-z0-9+/=]+"
