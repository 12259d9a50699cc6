"""The fair zone allocation policy: batches that spread page allocations over a node's zones."""
