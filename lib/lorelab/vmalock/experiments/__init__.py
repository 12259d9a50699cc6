"""One file a question: what the model answers, and the views that its pages need."""
