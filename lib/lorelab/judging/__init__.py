"""Model against kernel, claims of threads, and findings: what a run means."""
