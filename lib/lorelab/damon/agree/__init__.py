"""Model against kernel: one file a question, with `agree()`; `runs` is what they share."""
