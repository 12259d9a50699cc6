"""What the pages of the example show."""
