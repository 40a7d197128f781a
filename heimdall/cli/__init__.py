"""The two commands `mem` and `heimdall`: parse, one call of the App, render.

Nothing here decides anything about memories or code; nothing below here prints or exits. `main`
must stay importable without typer and rich, because a search is a whole process.
"""
