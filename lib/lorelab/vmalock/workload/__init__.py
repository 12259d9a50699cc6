"""What the threads of a modelled process do: costs, and programs of operations."""
