"""DAMON's way: the evaluation, and the kernels that brought what it asked for."""

from lorelab.showing.timeline import Event

EVENTS = [
    Event("2020-02-24", "v6 of the series, which nobody answers", "mails"),
    Event("2020-03-09", "the evaluation, which this chapter is about", "mails"),
    Event("2021-10-31", "5.15: the monitor", "kernel"),
    Event("2022-01-09", "5.16: schemes, with quotas", "kernel"),
    Event("2022-05-22", "5.18: sysfs", "kernel"),
    Event("2024-11-17", "6.12: offsets of 32 bits, one last count for all", "kernel"),
    Event("2026-11-23", "7.3.4: offsets of 64 bits, the last count still shared", "kernel"),
]
"""Mails by the day they were sent, kernels by their release; 7.3.4 by the day it was read here."""
