"""The HTTP service: latest positions, windows, rejects, and the dashboard page."""
