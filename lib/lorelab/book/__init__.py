"""From notebooks to the rendered book: run what changed, keep the outputs, build the pages."""
