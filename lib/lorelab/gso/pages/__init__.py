"""Tables and charts that the pages on zero-copy segments show."""
