"""What a spelling costs in digits and range: both are measured, on probes, and compared.

Whether one of two spellings cancels or overflows earlier is not derived from their form. Both are
computed in single precision at many points: ordinary, tiny, huge, mixed, near one another. Double
precision tells what is right there. Errors of rounding are random, so each computation is repeated
with roundings perturbed by one unit in the last place: Monte Carlo arithmetic (Parker 1997,
"Monte Carlo arithmetic: exploiting randomness in floating-point arithmetic"; Vignes 1993).
"""

from .judge import Judge, judge_of

__all__ = ["Judge", "judge_of"]
