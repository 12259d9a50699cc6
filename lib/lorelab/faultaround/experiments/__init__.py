"""One file a question to faultaround."""
