"""Tables and charts that the pages on swap allocation show."""
