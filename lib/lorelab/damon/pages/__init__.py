"""Tables and charts that the pages on DAMON show."""
