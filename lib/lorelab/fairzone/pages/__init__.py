"""Tables and charts that the pages on fair zone allocation show."""
