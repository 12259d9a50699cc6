"""A timeline has each event once, in the order of the days."""

from lorelab.damon.thread import history as damon
from lorelab.showing.timeline import Event, timeline
from lorelab.swap.thread import history as swap


def rows(chart):
    [found] = chart.to_dict()["datasets"].values()
    return found


def test_events_stand_in_the_order_of_their_days():
    events = [Event("2024-07-14", "6.10", "kernel"), Event("2023-10-10", "v1", "mails")]
    found = rows(timeline(events, "Way", "See."))
    assert [(row["row"], row["said"]) for row in found] == [
        (0, "2023-10  v1"),
        (1, "2024-07  6.10"),
    ]
    assert [row["right"] for row in found] == [False, True]


def test_the_ways_that_the_pages_show_are_in_order():
    for events in (swap.EVENTS, damon.EVENTS):
        days = [event.day for event in events]
        assert days == sorted(days)
        assert {event.where for event in events} == {"mails", "kernel"}
