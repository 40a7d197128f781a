"""How fast it is, as ratios on the machine at hand: `make bench`.

One small module per row. Both sides of a ratio run in the same process run, one after the other, on
the same material; a median of several runs is shown. Nothing here is a test and no test measures
time.
"""
