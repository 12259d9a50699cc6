"""What `swap/paths` counts."""

NAME = "swap/paths"

ORDERS = (0, 4)
"""The only ones that the test has."""
