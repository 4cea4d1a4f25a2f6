"""The Spark job: judges fixes, sums windows."""
