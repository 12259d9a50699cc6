"""One-line mutations of models, workloads, readers and reports, each against its fast tests."""
