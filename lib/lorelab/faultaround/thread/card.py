"""What the deck says of the example."""

from lorelab.showing.chapter_cards import Card

CARD = Card(
    "mm: map few pages around fault address if they are in page cache",
    "https://lore.kernel.org/r/1393530827-25450-1-git-send-email-kirill.shutemov@linux.intel.com",
    "Kirill A. Shutemov, February 2014",
    "How many minor faults does fault-around save, and what does it map for that?",
)
