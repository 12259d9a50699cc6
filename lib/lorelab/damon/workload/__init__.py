"""Programs that DAMON watches: masim's configurations, and what every experiment sets up."""
