"""Programs of the chapter, and counters that model and kernel give."""
