"""Rules, packs and the greedy driver: a rule pack imports its names from here.

from symgraph.rewriting import Axes, Identity, Positive, Real, RulePack, rule
"""

from ..array import Array
from .builders import as_scalar, folded, negated, number, product, value_of
from .conditions import holds, provided
from .deferred import static
from .families import unary_of_parity
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
    Offset,
    Permutation,
    Positive,
    PositiveConstant,
    Real,
    Scalar,
    ScaleConstant,
    Shape,
    Total,
    UniformConstant,
    Varying,
    is_real,
    is_scalar,
    is_total,
    of_fact,
)
from .index import RuleSet
from .packs import default_rules, load_packs
from .pattern import applied, building
from .rule import Identity, Rule, RulePack, Soundness
from .statement import rule

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
    "Offset",
    "Permutation",
    "Positive",
    "PositiveConstant",
    "Real",
    "Rule",
    "RulePack",
    "RuleSet",
    "Scalar",
    "ScaleConstant",
    "Shape",
    "Soundness",
    "Total",
    "UniformConstant",
    "Varying",
    "applied",
    "as_scalar",
    "building",
    "default_rules",
    "folded",
    "holds",
    "is_real",
    "is_scalar",
    "is_total",
    "load_packs",
    "negated",
    "number",
    "of_fact",
    "product",
    "provided",
    "rule",
    "static",
    "unary_of_parity",
    "value_of",
]
