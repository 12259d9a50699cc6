"""One file a question to faultaround, put to a kernel."""
