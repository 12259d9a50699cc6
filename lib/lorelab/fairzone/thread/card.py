"""What the first page and the decks say of this chapter."""

from lorelab.showing.chapter_cards import Card

CARD = Card(
    "Reset fair zone allocation policy only when batch counts are expired",
    "",
    "Mel Gorman and Johannes Weiner, May 2014",
    "When should the allocator reset the counters that spread allocations over zones?",
)
