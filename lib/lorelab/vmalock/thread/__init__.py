"""What the cover letter of the per-VMA locks says, and what came of checking it."""
