"""Runs the whole system on one machine: Java, jars, Kafka, the demo."""
