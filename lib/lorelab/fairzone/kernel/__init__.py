"""The same questions put to a kernel."""
