"""`heimdall init`: what tells the watchman where to look is set up in the project here.

The command, its words and its answer. Which files become what is decided in `heimdall.githooks`;
nothing is edited but by the plan that --dry-run shows. Tests: tests/heimdall/cli/test_initing.py.
"""

import os
from typing import Annotated

import typer

from heimdall import edits, githooks
from heimdall.cli import session, views
from heimdall.cli.exits import ExitCode
from heimdall.cli.render import clean
from heimdall.cli.typed import AsJson
from heimdall.errors import BadArgument
from heimdall.githooks import Hook, Plan, State

WHY = {
    "husky": "husky manages the hooks here; yours live in .husky/{event}",
    "lefthook": "lefthook writes {path} anew; it reads lefthook.yml",
    "pre-commit": "pre-commit writes {path} anew; it reads .pre-commit-config.yaml",
    "prek": "prek writes {path} anew; it reads .pre-commit-config.yaml",
    "global-path": "core.hooksPath of all your repositories leads to {path}",
    "outside": "core.hooksPath leads out of this repository, to {path}",
    "link": "{path} is a link",
    "other": "{path} is no file",
    "unreadable": "{path} cannot be read",
    "missing": "{path} does not exist",
    "binary": "{path} is a program",
    "not-sh": "{path} is not a script for sh or bash",
    "not-executable": "{path} is not executable, so git does not run it",
    "broken-section": "the marks of our lines in {path} do not pair; remove those lines",
}
"""Why a hook was left to the person, in words."""


def init(
    git_hooks: Annotated[
        bool, typer.Option("--git-hooks", help="Git hooks that say where to look after a change.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only say what is installed; exit 1 if not all is.")
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="Take out what was installed, to the byte.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be edited as a diff; edit nothing.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Set up what tells the watchman where to look, in the repository here.

    With --git-hooks: after a commit, checkout, merge, rebase, reset, stash and the like git appends
    one line to the hints. Hooks that are there stay as they are, with a marked section more; files
    of other programs (husky, lefthook, pre-commit) are never edited, and what to add to them is
    said. Exit 1 where something is left to do by hand.

    \b
    Examples:
      heimdall init --git-hooks --dry-run
      heimdall init --git-hooks
      heimdall init --git-hooks --check
    """
    if not git_hooks:
        raise BadArgument("--git-hooks", "", "is what there is to set up; name it")
    if check and (remove or dry_run):
        raise BadArgument("--check", "", "changes nothing and goes with no other option")
    app = session.open_app()
    action = "check" if check else "remove" if remove else "install"
    # Git is asked with the person's own settings; no variable decides anything here.
    plan = app.git_hooks(os.environ, remove=remove)
    if not check and not dry_run:
        app.edit(plan.edits)
    if as_json:
        session.say(views.dumps(value(plan, action, dry_run=dry_run)))
    elif dry_run:
        session.say(edits.diff(plan.edits) or "nothing would be edited")
    elif check:
        session.say(check_text(plan))
    else:
        session.say(done_text(plan, action))
    if not as_json and not check:
        for line in by_hand(plan, action):
            session.warn(line)
    return ExitCode.FINDINGS if left(plan, action) else ExitCode.OK


def left(plan: Plan, action: str) -> list[Hook]:
    """What is still to be done afterwards, by us or by hand."""
    if action == "check":
        return [one for one in plan.hooks if one.state is not State.INSTALLED]
    if action == "remove":
        return [one for one in plan.hooks if one.why == "broken-section"]
    return [one for one in plan.hooks if one.why]


def value(plan: Plan, action: str, *, dry_run: bool) -> views.Value:
    """A plan as heimdall.init/1; `state` is how each hook stood before."""
    hooks = [
        {
            "event": one.event,
            "state": one.state,
            "path": one.path,
            "by_hand": one.why or None,
            "add": _snippet(plan, one) if one.why else None,
        }
        for one in plan.hooks
    ]
    return {
        "schema": "heimdall.init/1",
        "action": action,
        "dry_run": dry_run,
        "root": plan.top,
        "mechanism": "config" if plan.by_config else "files",
        "directory": plan.directory,
        "hooks": hooks,
        "edited": [one.path for one in plan.edits],
        "diff": edits.diff(plan.edits) if dry_run else None,
    }


def check_text(plan: Plan) -> str:
    """One line a hook, and what to do about those that are left to the person."""
    lines = [f"{one.state:<9}  {one.event:<17}  {clean(one.path)}" for one in plan.hooks]
    return "\n".join([*lines, *by_hand(plan, "check")])


def done_text(plan: Plan, action: str) -> str:
    """What was edited."""
    done = [f"{_did(edit):<7}  {clean(edit.path)}" for edit in plan.edits]
    if done:
        return "\n".join(done)
    if action == "remove":
        return "nothing of ours was there"
    whole = all(one.state is State.INSTALLED for one in plan.hooks)
    return "all hooks were installed already" if whole else "nothing was edited"


def _did(edit: edits.Edit) -> str:
    if edit.old is None:
        return "made"
    return "removed" if edit.new is None else "edited"


def by_hand(plan: Plan, action: str) -> list[str]:
    """What was left to the person: for each reason once, with the hooks and what to add."""
    lines: dict[str, list[str]] = {}
    for one in left(plan, action):
        if not one.why:
            continue
        said = f"{clean(WHY[one.why].format(event=one.event, path=one.path))}; nothing was edited"
        added = lines.setdefault(f"{one.event}: {said}. What to add:", [])
        added += [f"    {line}" for line in _snippet(plan, one).split("\n")]
    return [line for head, added in lines.items() for line in (head, *added)]


def _snippet(plan: Plan, hook: Hook) -> str:
    return githooks.snippet(hook.event, hook.why, by_config=plan.by_config)
