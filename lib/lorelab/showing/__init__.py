"""Charts, tables and cards: what pages use."""
