"""Facts that tests state of their inputs: signs, bounds and the structure of matrices."""

from __future__ import annotations

import symgraph.facts as f

SIGNS = (f.positive, f.nonnegative, f.negative, f.nonpositive, f.nonzero)
ELEMENTWISE = [
    (),
    *[(sign,) for sign in SIGNS],
    (f.interval(-1, 1),),
    (f.interval(0, 1),),
    (f.interval(1, 1.5),),
    (f.interval(-3, -2), f.finite),
    (f.finite,),
    (f.integer_valued,),
    (f.integer_valued, f.nonnegative, f.finite),
]
MATRICES = [
    (f.simplex(-1),),
    (f.simplex(-2),),
    (f.one_hot(-1),),
    (f.unit_norm(-1),),
    (f.symmetric,),
    (f.positive_definite,),
    (f.orthogonal,),
    (f.diagonal,),
    (f.triangular("lower"),),
    (f.triangular("upper"), f.nonnegative),
]
