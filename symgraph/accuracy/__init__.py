"""Measures which of two spellings of a value keeps more digits and overflows later.

Neither is derived from the form of the spelling. Both spellings are computed in single precision at
many points, called probes: ordinary, tiny, huge, mixed, and nearly equal numbers. Double precision
gives the reference. Rounding errors are random, so each computation is repeated with perturbed
roundings: Monte Carlo arithmetic (Parker 1997, "Monte Carlo arithmetic: exploiting randomness in
floating-point arithmetic"; Vignes 1993).
"""

from .judge import Judge, judge_of, judged_as_carefully

__all__ = ["Judge", "judge_of", "judged_as_carefully"]
