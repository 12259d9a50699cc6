"""A reader's zoneinfo: read, and what the model says of its zones."""
