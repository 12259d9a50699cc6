"""The thread of May and June 2014: figures, checks, claims."""
