"""How long values live, and which values to compute again so that a run fits a memory budget."""

from typing import TYPE_CHECKING

from ..lazy import lazy_getattr

if TYPE_CHECKING:
    from .aims import Cost, Terms, aim_of
    from .budget import program_peak, within
    from .liveness import Memory, memory, readable_bytes
    from .rematerialization import bytes_of, frontier, recomputed, without_copies
    from .report import MemoryPlan, plan_of

__all__ = [
    "Cost",
    "Memory",
    "MemoryPlan",
    "Terms",
    "aim_of",
    "bytes_of",
    "frontier",
    "memory",
    "plan_of",
    "program_peak",
    "readable_bytes",
    "recomputed",
    "within",
    "without_copies",
]

__getattr__ = lazy_getattr(
    __name__,
    Cost="aims",
    Memory="liveness",
    MemoryPlan="report",
    Terms="aims",
    aim_of="aims",
    bytes_of="rematerialization",
    frontier="rematerialization",
    memory="liveness",
    plan_of="report",
    program_peak="budget",
    readable_bytes="liveness",
    recomputed="rematerialization",
    within="budget",
    without_copies="rematerialization",
)
