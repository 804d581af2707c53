"""Elementary functions on short vectors: the argument is reduced, then a polynomial evaluated.

Each has an error of at most one unit in the last place, subnormal and huge arguments included
(`log_add_exp`: two, `erfc` and `ndtr`: four), and NumPy's values at NaN, infinities
and zeros. The polynomials are fitted by `tests/support/fit_functions.py`. The reductions are those
of W. J. Cody and W. Waite, *Software Manual for the Elementary Functions* (1980): products of parts
of ln 2 and of pi/2 are exact by fused multiply-add. Sine and cosine of huge arguments are left to
the C library.
"""

from __future__ import annotations

from collections.abc import Callable

from ..records import record
from .coefficients import COEFFICIENTS
from .writer import Code, Value

__all__ = ["FUNCTIONS"]


@record
class _Format:
    """A format of floats.

    Parameters
    ----------
    name : str
    fraction, bias : int
        The bits of the fraction, and what is added to exponents.
    rounder : float
        Added and subtracted, it rounds to an integer.
    exp_range : tuple of float
        Beyond these arguments exp is infinite, or zero.
    ln2, half_pi : tuple of float
        Parts that sum to the constant.
    huge : float
        Arguments of sine and cosine above it are left to the C library.
    suffix : str
        Of the C library's names.
    """

    name: str
    fraction: int
    bias: int
    rounder: float
    exp_range: tuple[float, float]
    ln2: tuple[float, float]
    half_pi: tuple[float, float, float]
    huge: float
    suffix: str


_FORMATS = {
    "f64": _Format(
        "f64",
        52,
        1023,
        float.fromhex("0x1.8p52"),
        (-746.0, 710.0),
        (float.fromhex("0x1.62e42fefa39efp-1"), float.fromhex("0x1.abc9e3b39803fp-56")),
        (
            float.fromhex("0x1.921fb54442d18p+0"),
            float.fromhex("0x1.1a62633145c07p-54"),
            float.fromhex("-0x1.f1976b7ed8fbcp-110"),
        ),
        1e9,
        "",
    ),
    "f32": _Format(
        "f32",
        23,
        127,
        float.fromhex("0x1.8p23"),
        (-105.0, 89.0),
        (float.fromhex("0x1.62e430p-1"), float.fromhex("-0x1.05c610p-29")),
        (
            float.fromhex("0x1.921fb6p+0"),
            float.fromhex("-0x1.777a5cp-25"),
            float.fromhex("-0x1.ee59dap-50"),
        ),
        1e5,
        "f",
    ),
}
_LOG2_E = float.fromhex("0x1.71547652b82fep+0")
_TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
_INF, _NAN = float("inf"), float("nan")


def _polynomial(c: Code, name: str, x: Value, start: int = 0) -> Value:
    """The fitted polynomial by Horner's rule, or what is left of it above a power of x."""
    *rest, last = [float.fromhex(each) for each in COEFFICIENTS[name + x.kind[1:]][start:]]
    found = c.number(x.kind, last, x.width)
    for each in reversed(rest):
        found = c.fma(found, x, each)
    return found


def _power_of_two(c: Code, exponent: Value, form: _Format) -> Value:
    """Two to an integer power, if the result is a normal number."""
    return c.from_bits(c.shift_left(c.add(exponent, form.bias), form.fraction))


def _clipped(c: Code, x: Value, low: float, high: float) -> Value:
    """The argument within a range; NaN stays NaN."""
    x = c.select(c.compared("ogt", x, high), high, x)
    return c.select(c.compared("olt", x, low), low, x)


def _by_ln2(c: Code, x: Value, form: _Format) -> tuple[Value, Value, Value]:
    """An integer k, the rest x - k ln 2, and what this float lacks."""
    turned = c.fma(x, _LOG2_E, form.rounder)
    whole = c.neg(c.sub(turned, form.rounder))
    k = c.sub(c.bits_of(turned), c.bits_of(c.number(x.kind, form.rounder, x.width)))
    first = c.fma(whole, form.ln2[0], x)  # Exact.
    rest = c.fma(whole, form.ln2[1], first)
    return k, rest, c.fma(whole, form.ln2[1], c.sub(first, rest))


def exp(c: Code, x: Value, lost: Value | None = None) -> Value:
    """E to the x + lost; the power of two is multiplied in two steps, for it may be subnormal."""
    form = _FORMATS[x.kind]
    k, r, _ = _by_ln2(c, _clipped(c, x, *form.exp_range), form)
    r = r if lost is None else c.add(r, lost)
    one = c.add(r, 1.0)
    y = c.add(one, c.fma(c.mul(r, r), _polynomial(c, "exp", r), c.sub(r, c.sub(one, 1.0))))
    half = c.shift_right(k, 1)
    y = c.mul(y, _power_of_two(c, half, form))
    return c.mul(y, _power_of_two(c, c.sub(k, half), form))


def _half_of_expm1(c: Code, x: Value, form: _Format, *, exact: bool = False) -> tuple[Value, Value]:
    """(exp(x) - 1) / 2 as a sum: with h = 2^(k-1) it is h (r + p) + (h - 1/2).

    If it shall be `exact`, the rounding errors of r^2 and of h - 1/2 are kept, too.
    """
    k, r, lost = _by_ln2(c, x, form)
    square = c.mul(r, r)
    h = _power_of_two(c, c.sub(k, 1), form)
    base = c.sub(h, 0.5)
    large = c.fma(h, r, base)
    rest = c.fma(h, r, c.sub(base, large))
    if exact:
        rest = c.add(rest, c.sub(c.sub(h, base), 0.5))
        lost = c.fma(c.fma(r, r, c.neg(square)), 0.5, lost)
        lost = c.fma(c.mul(square, r), _polynomial(c, "expm1", r, 1), lost)
        return large, c.fma(h, c.fma(square, 0.5, lost), rest)
    return large, c.fma(h, c.fma(square, _polynomial(c, "expm1", r), lost), rest)


def expm1(c: Code, x: Value) -> Value:
    """exp(x) - 1, which is x where x is tiny."""
    form = _FORMATS[x.kind]
    clipped = _clipped(c, x, -45.0, form.exp_range[1])
    large, rest = _half_of_expm1(c, clipped, form, exact=True)
    y = c.add(large, rest)
    small = c.compared("olt", c.fabs(x), 2.0 ** -(form.fraction + 2))
    return c.select(small, x, c.add(y, y))


def _mantissa(c: Code, x: Value, form: _Format) -> tuple[Value, Value]:
    """E and m with x = 2^e m and m from sqrt(1/2) to sqrt(2)."""
    root = c.bits_of(c.number(x.kind, 0.5**0.5, x.width))
    bits = c.bits_of(x)
    e = c.shift_right(c.sub(bits, root), form.fraction)
    return e, c.from_bits(c.sub(bits, c.shift_left(e, form.fraction)))


def _log_of(c: Code, e: Value, f: Value, lost: Value | None, form: _Format) -> Value:
    """E ln 2 + log(1 + f + lost), with s = f / (2 + f) and the odd series in s."""
    s = c.div(f, c.add(f, 2.0))
    z = c.mul(s, s)
    half = c.mul(c.mul(f, 0.5), f)
    rest = c.mul(s, c.fma(z, _polynomial(c, "log", z), half))
    e = c.converted("sitofp", e, f.kind)
    if lost is not None:
        rest = c.fma(lost, c.sub(1.0, f), rest)
    low = c.sub(c.sub(half, c.fma(e, form.ln2[1], rest)), f)
    return c.fma(e, form.ln2[0], c.neg(low))


def _at_ends(c: Code, x: Value, y: Value, pole: float) -> Value:
    """The logarithm with its values at the pole, beyond it, and at infinity."""
    y = c.select(c.compared("oeq", x, _INF), x, y)
    y = c.select(c.compared("ult", x, pole), _NAN, y)
    return c.select(c.compared("oeq", x, pole), -_INF, y)


def log(c: Code, x: Value) -> Value:
    """The natural logarithm; subnormal numbers are scaled first."""
    form = _FORMATS[x.kind]
    tiny = c.compared("olt", x, 2.0 ** (1 - form.bias))
    scaled = c.select(tiny, c.mul(x, 2.0 ** (form.fraction + 2)), x)
    e, m = _mantissa(c, scaled, form)
    e = c.select(tiny, c.sub(e, form.fraction + 2), e)
    return _at_ends(c, x, _log_of(c, e, c.sub(m, 1.0), None, form), 0.0)


def log1p(c: Code, x: Value) -> Value:
    """log(1 + x): what rounding takes from 1 + x is added after the reduction."""
    form = _FORMATS[x.kind]
    u = c.add(x, 1.0)
    part = c.sub(u, 1.0)
    lost = c.add(c.sub(x, part), c.sub(1.0, c.sub(u, part)))
    e, m = _mantissa(c, u, form)
    # For a huge argument nothing that counts is lost, and the power would be subnormal.
    far = c.compared("ogt", x, 2.0 ** (form.fraction + 3))
    lost = c.mul(c.select(far, 0.0, lost), _power_of_two(c, c.sub(0, c.select(far, 0, e)), form))
    exact = c.sub(m, 1.0)
    f = c.add(exact, lost)
    y = _log_of(c, e, f, c.sub(lost, c.sub(f, exact)), form)
    y = _at_ends(c, x, y, -1.0)
    return c.select(c.compared("oeq", x, 0.0), x, y)


def tanh(c: Code, x: Value) -> Value:
    """T / (t + 1) with t = (exp(2x) - 1) / 2; t and t + 1 are sums of two floats."""
    form = _FORMATS[x.kind]
    a = c.fabs(x)
    # tanh is one to the last digit long before this.
    large, rest = _half_of_expm1(c, c.select(c.compared("ogt", a, 25.0), 50.0, c.add(a, a)), form)
    t = c.add(large, rest)
    low = c.sub(rest, c.sub(t, large))
    below = c.add(t, 1.0)
    part = c.sub(below, t)
    lack = c.add(c.add(c.sub(t, c.sub(below, part)), c.sub(1.0, part)), low)
    inverse = c.div(1.0, below)
    q = c.mul(t, inverse)
    left = c.add(c.fma(c.neg(q), below, t), low)
    y = c.fma(c.fma(c.neg(q), lack, left), inverse, q)
    y = c.select(c.compared("olt", a, 2.0 ** -(form.fraction // 2 + 2)), a, y)
    return c.intrinsic("copysign", y, x)


def _by_half_pi(c: Code, x: Value, form: _Format) -> tuple[Value, Value, Value]:
    """An integer k, and x - k pi/2 as a float and what it lacks."""
    turned = c.fma(x, _TWO_OVER_PI, form.rounder)
    k = c.sub(turned, form.rounder)
    first = c.fma(c.neg(k), form.half_pi[0], x)  # Exact.
    high = c.mul(k, form.half_pi[1])
    low = c.fma(k, form.half_pi[1], c.neg(high))
    r = c.sub(first, high)
    lost = c.sub(c.sub(c.sub(first, r), high), low)
    return c.bits_of(turned), r, c.fma(c.neg(k), form.half_pi[2], lost)


def _turned(c: Code, x: Value, quarter: int) -> Value:
    """The sine of x + quarter pi/2."""
    form = _FORMATS[x.kind]
    k, r, lost = _by_half_pi(c, x, form)
    z = c.mul(r, r)
    cube = c.mul(z, r)
    # sin(r + lost) = sin r + lost cos r, and cos(r + lost) = cos r - lost sin r.
    odd = c.add(r, c.fma(cube, _polynomial(c, "sin", z), c.fma(c.mul(z, -0.5), lost, lost)))
    half = c.mul(z, 0.5)
    one = c.sub(1.0, half)
    rest = c.fma(c.mul(z, z), _polynomial(c, "cos", z), c.neg(c.mul(r, lost)))
    even = c.add(one, c.add(c.sub(c.sub(1.0, one), half), rest))
    k = c.add(k, quarter)
    y = c.select(c.compared("ne", c.bitand(k, 1), 0), even, odd)
    sign = c.shift_left(c.bitand(k, 2), form.fraction + {"f64": 10, "f32": 7}[x.kind])
    return c.from_bits(c.bitxor(c.bits_of(y), sign))


def _for_huge(name: str, quick: Callable[[Code, Value], Value]) -> Callable[[Code, Value], Value]:
    """The function, and the C library's where an argument is huge."""

    def function(c: Code, x: Value) -> Value:
        form = _FORMATS[x.kind]
        huge = c.compared("ogt", c.fabs(x), form.huge)
        some = c.folded(huge, c.bitor)
        y = c.slot(x.kind, x.width, quick(c, x))
        slow, after = c.label(), c.label()
        known = dict(c.known)
        c.line(f"br i1 {some.text}, label %{slow}, label %{after}, !prof !0")
        c.block(slow)
        c.set(y, c.each_lane([x], name + form.suffix))
        c.line(f"br label %{after}")
        c.block(after)
        c.known = known  # What came before the branch is known after it.
        return c.get(y, x.kind, x.width)

    return function


sin = _for_huge("sin", lambda c, x: c.select(c.compared("oeq", x, 0.0), x, _turned(c, x, 0)))
cos = _for_huge("cos", lambda c, x: _turned(c, x, 1))


def log_add_exp(c: Code, x: Value, y: Value) -> Value:
    """log(exp(x) + exp(y)): the larger of the two and log1p(exp(-distance))."""
    zero = c.number(x.kind, 0.0, y.width).text
    distance = c.fabs(y) if x.text == zero else c.fabs(c.sub(x, y))
    larger = c.select(c.compared("ogt", x, y), x, y)
    # At equal infinities the distance is NaN; NumPy adds log 2 to either.
    equal = c.compared("oeq", x, y)
    rest = log1p(c, exp(c, c.neg(distance)))
    found = c.add(larger, c.select(equal, _LN2, rest))
    return c.select(c.compared("uno", x, y), _NAN, found)


_LN2 = float.fromhex("0x1.62e42fefa39efp-1")
_ERF_SHIFT = 2.25
_ERF_SPLIT = 1.0


def erf(c: Code, x: Value) -> Value:
    """The error function: by a polynomial near zero, else 1 - exp(-x^2) T(x)."""
    a = c.fabs(x)
    near = c.fma(a, _polynomial(c, "erf", c.mul(a, a)), a)
    b = c.select(c.compared("ogt", a, 6.0), 6.0, a)
    u = c.div(c.sub(b, _ERF_SHIFT), c.add(b, _ERF_SHIFT))
    tail = c.mul(exp(c, c.neg(c.mul(b, b))), _polynomial(c, "erfc", u))
    y = c.select(c.compared("olt", a, _ERF_SPLIT), near, c.sub(1.0, tail))
    y = c.intrinsic("copysign", y, x)
    return c.select(c.compared("uno", x, x), x, y)


_TAIL_START, _TAIL_SHIFT, _TAIL_END = 0.5, 3.0, 28.0


def _erf_and_tail(c: Code, a: Value, square: Value, lost: Value) -> tuple[Value, Value]:
    """erf(a) for a positive a below the start, erfc(a) above it; `square + lost` is a^2."""
    near = c.fma(a, _polynomial(c, "erf", square), a)
    u = c.div(c.sub(a, _TAIL_SHIFT), c.add(a, _TAIL_SHIFT))
    scaled = c.div(_polynomial(c, "tail", u), c.fma(a, 2.0, 1.0))
    return near, c.mul(exp(c, c.neg(square), c.neg(lost)), scaled)


def erfc(c: Code, x: Value) -> Value:
    """1 - erf(x) near zero, else exp(-x^2) T(x), or 2 less that of -x."""
    b = _clipped(c, x, -_TAIL_END, _TAIL_END)
    a = c.fabs(b)
    square = c.mul(b, b)
    near, tail = _erf_and_tail(c, a, square, c.fma(b, b, c.neg(square)))
    far = c.select(c.compared("olt", b, 0.0), c.sub(2.0, tail), tail)
    return c.select(
        c.compared("olt", a, _TAIL_START), c.sub(1.0, c.intrinsic("copysign", near, x)), far
    )


def ndtr(c: Code, x: Value) -> Value:
    """The half of erfc(-x / sqrt 2), whose square is exact in x."""
    end = 39.5
    b = _clipped(c, x, -end, end)
    half = c.mul(b, 0.5)
    square = c.mul(half, b)
    a = c.mul(c.fabs(b), 0.5**0.5)
    near, tail = _erf_and_tail(c, a, square, c.fma(half, b, c.neg(square)))
    tail = c.mul(tail, 0.5)
    far = c.select(c.compared("ogt", b, 0.0), c.sub(1.0, tail), tail)
    middle = c.fma(c.intrinsic("copysign", near, x), 0.5, 0.5)
    return c.select(c.compared("olt", a, _TAIL_START), middle, far)


_WRITTEN: dict[str, Callable[..., Value]] = {
    "np.exp": exp,
    "np.expm1": expm1,
    "np.log": log,
    "np.log1p": log1p,
    "np.tanh": tanh,
    "np.sin": sin,
    "np.cos": cos,
    "np.logaddexp": log_add_exp,
    "special.erf": erf,
    "special.erfc": erfc,
    "special.ndtr": ndtr,
}


def _in_place_or_called(name: str, function: Callable[..., Value]) -> Callable[..., Value]:
    def of(c: Code, *operands: Value) -> Value:
        return c.called(name, function, operands) if c.outlined else function(c, *operands)

    return of


FUNCTIONS = {name: _in_place_or_called(name, function) for name, function in _WRITTEN.items()}
"""The functions of NumPy and SciPy that are written here, for float64 and float32."""
