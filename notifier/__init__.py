"""Sends alert notifications."""
