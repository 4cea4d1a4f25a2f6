"""Drives a fleet of trucks and publishes its fixes."""
