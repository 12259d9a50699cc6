"""A design laid out from its thread: `lorelab new`."""
