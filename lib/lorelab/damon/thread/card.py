"""What the first page and the decks say of this chapter."""

from lorelab.showing.chapter_cards import Card

CARD = Card(
    "Introduce Data Access MONitor",
    "https://lore.kernel.org/r/20200309102345.13427-1-sjpark@amazon.com",
    "SeongJae Park, March 2020",
    "How near can one sampled page a region come to knowing which memory is hot, at a cost "
    "that does not grow with memory?",
)
