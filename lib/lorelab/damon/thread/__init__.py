"""What the thread says: its figures, the checks of its claims, and the claims."""
