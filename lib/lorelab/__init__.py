"""Kernel mailing-list threads as executable research notebooks."""

__version__ = "0.1.0"
