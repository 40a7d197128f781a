"""The decisions: pure functions of values, which touch no file, clock, process or database."""
