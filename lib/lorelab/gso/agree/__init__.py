"""How runs of the zero-copy chapter are judged, where "equal" is not the answer."""
