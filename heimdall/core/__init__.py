"""Decisions without a world: values in, values out.

Nothing here opens, asks the time or reads the environment; the import contracts refuse it.
"""
