"""The HTTP routes, one file per noun: each asks the view or the store and shapes the answer."""
