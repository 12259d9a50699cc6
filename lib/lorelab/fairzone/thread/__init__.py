"""What the fair-zone thread says: its figures, checks of its statements, and its claims."""
