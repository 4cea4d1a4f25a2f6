"""Apprise with all its plugins: loaded once, in the process from which the couriers are forked."""

from apprise import Apprise

# It reads its plugins when it is given its first address, which takes a second or more.
Apprise().add("json://localhost")
