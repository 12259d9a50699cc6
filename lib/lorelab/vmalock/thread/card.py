"""What the first page and the decks say of this chapter."""

from lorelab.showing.chapter_cards import Card

CARD = Card(
    "Per-VMA locks",
    "https://lore.kernel.org/r/20230127194110.533103-1-surenb@google.com",
    "Suren Baghdasaryan, January 2023",
    "Can a page fault do without `mmap_lock`, and what does a writer pay for it?",
)
