"""One file a question: what each variant does, by the model."""
