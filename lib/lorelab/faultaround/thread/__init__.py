"""The thread of the example: its claims, and its card."""
