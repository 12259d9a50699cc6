"""Recordings of a running kernel: which of its zero-copy packets were copied after all."""
