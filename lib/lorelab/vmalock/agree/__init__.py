"""How runs of a kernel are held against the model, where equal counters are not the answer."""
