"""The exceptions that a user is meant to read."""


class UserError(Exception):
    """Bad input, told in one sentence.

    The message says what was found, where (``file:line``, key or row), what was
    expected and what to do. The command line prints it without a stack trace.
    """


class OutOfTime(Exception):
    """Work was stopped where nothing is lost, because the allocation is nearly over.

    The message says how far it is. The command line prints it and exits with 75 (try again).
    """
