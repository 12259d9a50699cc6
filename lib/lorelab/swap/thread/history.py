"""The patch's way: versions and mails of the thread, and the kernels that came of them."""

from lorelab.showing.timeline import Event

EVENTS = [
    Event("2023-10-10", "v1: one current cluster for each order of the device", "mails"),
    Event("2023-10-25", "v3, which this chapter is about", "mails"),
    Event("2024-04-08", "v7, the version that was merged", "mails"),
    Event("2024-06-18", "Ryan Roberts: go round the clusters of an order", "mails"),
    Event("2024-07-11", "Chris Li's v4: a nonfull list for each order", "mails"),
    Event("2024-07-14", "6.10: folios go out whole, as long as clusters are free", "kernel"),
    Event("2024-11-17", "6.12: nonfull and frag lists", "kernel"),
    Event("2026-11-23", "7.3.4: no slot caches, equal to the model of 7.2", "kernel"),
]
"""Mails by the day they were sent, kernels by their release; 7.3.4 by the day it was run here."""
