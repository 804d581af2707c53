"""Rules, packs and the greedy driver: what a rule pack imports.

from symgraph.rewriting import Axes, Identity, Positive, Real, RulePack, rule
"""

from ..array import Array
from .deferred import static
from .guards import (
    Axes,
    Axis,
    Boolean,
    Constant,
    DType,
    Finite,
    Flag,
    Guard,
    Index,
    Integer,
    IntegerValued,
    Negative,
    NegativeConstant,
    Nonnegative,
    Nonpositive,
    Nonzero,
    Permutation,
    Positive,
    PositiveConstant,
    Real,
    Scalar,
    Shape,
    Total,
)
from .pattern import building
from .rule import Identity, Rule, RulePack, Soundness, holds, provided, rule

__all__ = [
    "Array",
    "Axes",
    "Axis",
    "Boolean",
    "Constant",
    "DType",
    "Finite",
    "Flag",
    "Guard",
    "Identity",
    "Index",
    "Integer",
    "IntegerValued",
    "Negative",
    "NegativeConstant",
    "Nonnegative",
    "Nonpositive",
    "Nonzero",
    "Permutation",
    "Positive",
    "PositiveConstant",
    "Real",
    "Rule",
    "RulePack",
    "Scalar",
    "Shape",
    "Soundness",
    "Total",
    "building",
    "holds",
    "provided",
    "rule",
    "static",
]
