"""Topic pages and chains at the command line: what is said, where, and how it ends."""

from tests.heimdall.cli.conftest import Box


def topic(box: Box, body: str, *more: str) -> tuple[str, str, str]:
    """Write a page with `body`; its id, and what was said on the two streams."""
    (box.code / "page.md").write_text(body)
    head = ("--title", "Page", "--summary", "All of it.", "-k", "page", "-k", "map")
    done = box.mem("write", *head, "--kind", "topic", "--content", "page.md", *more)
    assert done.code == 0, done
    return done.out.split()[0], done.out, done.err


def test_topics_are_checked_for_links_that_no_longer_hold(project: Box) -> None:
    assert project.mem("topics").out == "there are no topics yet\n"
    old = project.write("Old")
    page, _, err = topic(project, f"[[{old}]]\n")
    assert err == ""
    assert project.mem("topics", "--check").code == 0
    new = project.mem("replace", "--json", old, "--title", "New").json()["id"]
    listed = project.mem("topics")
    assert (listed.code, listed.err) == (0, "")
    head, line = listed.out.splitlines()
    assert head.split()[0] == page[:12]
    assert "1 of 1 links no longer hold" in head
    assert line.split() == [old[:12], "replaced", "now", new[:12], "New"]
    checked = project.mem("topics", "--check", "--json")
    assert checked.code == 1
    value = checked.json()
    assert value["schema"] == "mem.topics/1"
    (told,) = value["topics"]
    assert (told["id"], told["fresh"], told["stale"]) == (page, False, [old])
    assert (told["links"][0]["state"], told["links"][0]["current"]) == ("replaced", [new])


def test_a_page_is_read_with_what_became_of_its_links(project: Box) -> None:
    old, gone = project.write("Old"), project.write("Gone")
    new = project.mem("replace", "--json", old, "--title", "New").json()["id"]
    project.mem("delete", gone, "--reason", "it was\nwrong")
    page, *_ = topic(project, f"[[{old}]] [[{new}]] [[{gone[:9]}]] [[0123456]]\n")
    text = project.mem("read", page, "--expand").out
    links = [line.split() for line in text.split("\nlinks\n")[1].splitlines()[::2][:3]]
    assert links[0] == [old[:12], "replaced", "now", new[:12], "New"]
    assert links[1] == [new[:12], "fresh", "New"]
    assert links[2] == [gone[:9], "withdrawn", "Gone:", "it", "was", "wrong"]
    assert text.endswith("0123456       unknown    no entry has this id\n")
    value = project.mem("read", page, "--expand", "--json").json()
    assert [one["state"] for one in value["links"]] == [
        "replaced",
        "fresh",
        "withdrawn",
        "unknown",
    ]
    assert "links" not in project.mem("read", page, "--json").json()
    assert project.mem("read", new, "--expand").out.endswith("\nlinks     none\n")


def test_a_page_with_links_that_do_not_hold_is_written_and_they_are_named(project: Box) -> None:
    old = project.write("Old")
    new = project.mem("replace", "--json", old, "--title", "New").json()["id"]
    page, out, err = topic(project, f"[[{old}]] [[0123456]] [[{new}]]\n")
    assert out.splitlines()[0].startswith(page)
    assert err.splitlines() == [
        f"link {old[:12]}  replaced   now {new[:12]}  New",
        "link 0123456       unknown    no entry has this id",
    ]
    again = project.mem("replace", "--json", page, "--title", "Page again")
    assert [one["state"] for one in again.json()["links"]] == ["replaced", "unknown"]
    assert again.err == ""
    # What a task links is nobody's promise.
    (project.code / "task.md").write_text("[[0123456]]\n")
    task = project.mem(
        *("write", "--json", "--title", "Task", "--summary", "s", "-k", "a", "-k", "b"),
        *("--content", "task.md"),
    )
    assert "links" not in task.json()


def test_the_hash_of_a_withdrawal_leads_to_what_it_withdrew(project: Box) -> None:
    entry = project.write("Gone")
    gone = project.mem("delete", "--json", entry, "--reason", "wrong").json()["id"]
    done = project.mem("read", gone)
    assert (done.code, done.out) == (3, "")
    assert f"`mem read {entry}`" in done.err
    assert project.mem("read", "--json", gone).json()["error"]["code"] == "withdrawal-id"


def test_two_truths_of_one_entry_are_both_shown_and_neither_is_strong(project: Box) -> None:
    old = project.write("Budget", "--path", "budget.py")
    other = project.code.parent / "other"
    project.git("clone", "-q", str(project.code / ".mem"), str(other / ".mem"))
    project.git("init", "-q", cwd=other)
    (other / "budget.py").write_bytes((project.code / "budget.py").read_bytes())
    left = project.mem("replace", "--json", old, "--title", "Budget left").json()["id"]
    right = project.mem("replace", "--json", old, "--title", "Budget right", cwd=other)
    rival = right.json()["id"]
    store = project.code / ".mem"
    project.git("fetch", "-q", str(other / ".mem"), "main", cwd=store)
    project.git("merge", "-q", "-Xfind-renames=100%", "--no-edit", "FETCH_HEAD", cwd=store)
    hits = {
        hit["id"]: (hit["verdict"], hit["reasons"])
        for hit in project.mem("search", "--json", "budget").json()["hits"]
    }
    assert hits == {
        left: ("WEAK", [f"contested-by:{rival}", "anchor-same"]),
        rival: ("WEAK", [f"contested-by:{left}", "anchor-same"]),
    }
    assert project.mem("search", "--json", "--precise", "budget").json()["hits"] == []
    assert f"state     active, contested by {rival}" in project.mem("read", left).out
    assert project.mem("read", "--json", old).json()["faults"] == ["forked"]
    value = project.mem("log", old[:10], "--json").json()
    assert (value["schema"], value["entry"], value["faults"]) == ("mem.log/1", old, ["forked"])
    assert set(value["living"]) == {left, rival}
    drawn = project.mem("log", old).out.splitlines()
    assert [line[:3] for line in drawn[:4]] == ["* " + drawn[0][2], "| *", "|/", "* " + old[0]]
    assert [line.endswith("(living)") for line in drawn[:4]] == [True, True, False, False]
    assert max(map(len, drawn)) <= 80
    # Withdrawing one of the two settles it.
    assert project.mem("delete", rival, "--reason", "the left is right").code == 0
    (hit,) = project.mem("search", "--json", "budget").json()["hits"]
    assert (hit["id"], hit["verdict"]) == (left, "STRONG")
