"""The watchman: a live index of the code on this machine, and a verdict on every memory of it.

Nothing is imported here, so that a hook or a search pays only for the rooms that it enters;
`heimdall.app` is the composition for those who want everything.
"""
