"""What the first page and the decks say of this chapter."""

from lorelab.showing.chapter_cards import Card

CARD = Card(
    "Swap-out small-sized THP without splitting",
    "https://lore.kernel.org/r/87pm0v8b32.fsf@yhuang6-desk2.ccr.corp.intel.com",
    "Ryan Roberts and Huang Ying, October 2023",
    "What does splitting a 64 KiB folio before swap-out cost, and does the allocator that "
    "avoids it survive fragmentation?",
)
