"""What the first page and the decks say of this chapter."""

from lorelab.showing.chapter_cards import Card

CARD = Card(
    "Zero-copy GSO without orphaning the fragments",
    "",
    "Igor Royzis, Anton Nayshtut, Michael S. Tsirkin, Eric Dumazet, June 2014",
    "When may the sender reuse its pages once a packet has been cut into segments?",
)
