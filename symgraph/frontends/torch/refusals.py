"""The reasons why layers in training mode are refused."""

from __future__ import annotations

from ..spelling import Refused

__all__ = ["Random", "Statistics"]


class Random(Refused):
    """The operation drops values at random."""

    def __init__(self, why: str = "drops values at random") -> None:
        super().__init__(why, "Call model.eval() first, or set the probability to 0.")


class Statistics(Refused):
    """The operation would write its running statistics."""

    def __init__(self) -> None:
        super().__init__(
            "is in training mode and would write its running statistics",
            "Call model.eval() first, or make the layer with track_running_stats=False.",
        )
