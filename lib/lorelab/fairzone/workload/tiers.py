"""`fairzone/tiers`: its name, and how finely it is told what of the disk is cached."""

NAME = "fairzone/tiers"
PARTS = 48
"""Of all that is read, in order."""
