"""Hard words: what a person types finds what another wrote, in any script and spelling."""

import pytest

from gitmemo import Draft, Store
from tests.support.memory import Clock, project

TITLES = [
    "一个字在长文里出现",
    "キャッシュを消す処理",
    "캐시를 비운다",
    "การเชื่อมต่อฐานข้อมูล",
    "的watchdog单",
    "🚀 launch plan",
    "getHTTPResponse2 keeps",
    "snake_case and kebab-case",
    "C++ templates",
    ".NET runtime",
    "pinned v1.2.3",
    "utf-8 everywhere",
    "café menu",
    "ＷＩＤＥ letters",
    "İstanbul office",
    "startup is slow",
    "configurationManager holds state",
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = project(tmp_path_factory.mktemp("words"), clock=Clock(step=0.0))
    for n, title in enumerate(TITLES):
        made.write(Draft(title, "Says it.", (f"k{n}", f"m{n}"), "body"))
    return made


@pytest.mark.parametrize(
    ("words", "found"),
    [
        *[(sign, 0) for sign in ("一", "字", "长", "现", "出现", "文里")],
        *[(sign, 1) for sign in ("キ", "消", "理", "消す", "ｷｬ", "処理", "キャッシュ")],
        *[(sign, 2) for sign in ("캐", "다", "캐시", "비운다")],
        *[(sign, 3) for sign in ("เชื่อม", "ข้อมูล", "ล")],
        *[(sign, 4) for sign in ("watchdog", "的", "单", "的watchdog单", "watchdgo", "Watchdog")],
        ("🚀 launch", 5),
        *[(word, 6) for word in ("gethttpresponse2", "response2", "http", "getHTTPResponse2")],
        *[(word, 6) for word in ("gethtpresponse2", "respnose2")],
        *[(word, 7) for word in ("snake", "snakecase", "snake-case", "kebabcase", "kebab_case")],
        ("C++ templates", 8),
        *[(word, 9) for word in (".NET", "net", ".net runtime")],
        *[(word, 10) for word in ("v1.2.3", "1.2.3 pinned")],
        *[(word, 11) for word in ("utf-8", "utf8", "UTF-8")],
        *[(word, 12) for word in ("café", "cafe\u0301", "cafe", "CAFÉ")],
        *[(word, 13) for word in ("wide", "ＷＩＤＥ", "Wide")],
        *[(word, 14) for word in ("istanbul", "İstanbul", "ISTANBUL", "istanbul office")],
        *[
            (word, 15)
            for word in ("startup", "startpu", "tsartup", "xtartup", "tartup", "startups")
        ],
        *[(word, 16) for word in ("confiugration", "xonfiguration", "onfiguration", "manger")],
        ("configurationmanger", 16),
    ],
)
def test_a_word_finds_its_entry_and_no_other(store: Store, words: str, found: int) -> None:
    assert store.search([words]).hits[0].title == TITLES[found]
    if len(words.split()) == 1 and "-" not in words and "." not in words and "_" not in words:
        assert [hit.title for hit in store.search([words]).hits] == [TITLES[found]]


@pytest.mark.parametrize(
    "words", ["art", "tart", "fig", "在里", "つ", "시비", "atch", "unch", "tf8", "🚀", "case8"]
)
def test_no_part_of_a_word_finds_it(store: Store, words: str) -> None:
    assert store.search([words]).total == 0
