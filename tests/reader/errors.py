# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with bytes that the reader is given."""


class Damaged(Exception):
    """The bytes are not what the format says."""


class NewerNeeded(Exception):
    """The bytes are of a later version of the format."""


class NotForUs(Exception):
    """The key does not open this."""


def require(condition, what):
    if not condition:
        raise Damaged(what)
