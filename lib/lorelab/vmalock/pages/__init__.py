"""Tables and charts that the pages on per-VMA locks show."""
