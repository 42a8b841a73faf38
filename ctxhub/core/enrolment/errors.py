"""Why a program gets no tokens yet, or never, in the words of RFC 8628."""

from typing import ClassVar


class NoTokens(Exception):
    """`code`: the `error` of RFC 8628; `message`: for a person."""

    code: ClassVar[str]

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Pending(NoTokens):
    code = "authorization_pending"

    def __init__(self) -> None:
        super().__init__("Nobody has typed the code and decided yet.")


class TooFast(NoTokens):
    code = "slow_down"

    def __init__(self, interval: int) -> None:
        super().__init__(f"Ask every {interval} seconds.")
        self.interval = interval


class Denied(NoTokens):
    code = "access_denied"


class Ended(NoTokens):
    code = "expired_token"

    def __init__(self) -> None:
        super().__init__("The code has expired, was used, or never was one. Begin again.")
