"""SciPy's functions on symbols: the refusal names the function and its replacement."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate as si
import scipy.interpolate
import scipy.linalg as sl
import scipy.ndimage
import scipy.optimize
import scipy.signal as ss
import scipy.special as sp
import scipy.stats as st
from scipy.spatial.transform import Rotation

import symgraph as sg
from symgraph.array.scipy_calls import MIRRORED

PCHIP = scipy.interpolate.PchipInterpolator(np.arange(4.0), np.arange(4.0))
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "special.logsumexp": lambda x, a: sp.logsumexp(x),
    "special.softmax": lambda x, a: sp.softmax(x),
    "special.log_softmax": lambda x, a: sp.log_softmax(x),
    "special.multigammaln": lambda x, a: sp.multigammaln(x, 2),
    "stats.norm.logpdf": lambda x, a: st.norm.logpdf(x),
    "stats.norm.pdf": lambda x, a: st.norm(x, 1.0).pdf(0.0),
    "stats.gamma.cdf": lambda x, a: st.gamma.cdf(0.5, x),
    "stats.poisson.logpmf": lambda x, a: st.poisson.logpmf(x, 2.0),
    "stats.multivariate_normal.logpdf": lambda x, a: st.multivariate_normal.logpdf(x, np.zeros(4)),
    "stats.dirichlet.logpdf": lambda x, a: st.dirichlet.logpdf(x, np.ones(4)),
    "linalg.solve": lambda x, a: sl.solve(a, a),
    "linalg.solve_triangular": lambda x, a: sl.solve_triangular(a, a),
    "linalg.cho_factor": lambda x, a: sl.cho_factor(a),
    "linalg.expm": lambda x, a: sl.expm(a),
    "linalg.solve_sylvester": lambda x, a: sl.solve_sylvester(a, a, a),
    "linalg.solve_discrete_are": lambda x, a: sl.solve_discrete_are(a, a, np.eye(3), np.eye(3)),
    "linalg.sqrtm": lambda x, a: sl.sqrtm(a),
    "linalg.toeplitz": lambda x, a: sl.toeplitz(x),
    "signal.convolve": lambda x, a: ss.convolve(x, x),
    "signal.hilbert": lambda x, a: ss.hilbert(x),
    "signal.sosfilt": lambda x, a: ss.sosfilt(np.ones((1, 6)), x),
    "fft.dct": lambda x, a: scipy.fft.dct(x),
    "signal.fftconvolve": lambda x, a: ss.fftconvolve(x, x),
    "integrate.solve_ivp": lambda x, a: si.solve_ivp(lambda t, y: -y, (0, 1), x),
    "integrate.odeint": lambda x, a: si.odeint(lambda y, t: -y, x, [0, 1.0]),
    "integrate.simpson": lambda x, a: si.simpson(x),
    "interpolate.CubicSpline": lambda x, a: scipy.interpolate.CubicSpline(np.arange(4.0), x),
    "interpolate.PchipInterpolator": lambda x, a: PCHIP(x),
}
OTHERS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "scipy.linalg.logm": (lambda x, a: sl.logm(a), "linalg.eigh"),
    "scipy.ndimage.map_coordinates": (
        lambda x, a: scipy.ndimage.map_coordinates(np.eye(3), a[:2], order=1),
        "RegularGridInterpolator",
    ),
    "scipy.linalg.polar": (lambda x, a: sl.polar(a), "solve_triangular"),
    "scipy.stats.zscore": (lambda x, a: st.zscore(x), "symgraph.scipy.stats.zscore"),
    "scipy.stats.iqr": (lambda x, a: st.iqr(x), "np.percentile"),
    "scipy.stats.tmean": (lambda x, a: st.tmean(x), "custom_op"),
    "A function of scipy.spatial": (
        lambda x, a: Rotation.from_rotvec([0.1, 0.2, 0.3]).apply(a),
        "x @ r.as_matrix().T",
    ),
    "scipy.optimize.minimize": (lambda x, a: scipy.optimize.minimize(np.sum, x), "flat_objective"),
    "scipy.interpolate.BarycentricInterpolator": (
        lambda x, a: scipy.interpolate.BarycentricInterpolator(np.arange(4.0), x),
        "np.interp",
    ),
    "scipy.fft.fht": (lambda x, a: scipy.fft.fht(x, 0.1, 0.0), "np.fft"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_refusal_names_the_replacement(name: str) -> None:
    x, a = sg.input("x", (4,)), sg.input("a", (3, 3))
    with pytest.raises(sg.TraceError, match=rf"scipy\.{name} cannot be traced: SciPy conv") as no:
        CALLS[name](x, a)
    assert no.value.mend == f"Use symgraph.scipy.{name}."
    assert "used at test_scipy_calls.py" in str(no.value)


@pytest.mark.parametrize("name", OTHERS)
def test_what_has_no_replacement_says_what_else_to_do(name: str) -> None:
    call, mend = OTHERS[name]
    with pytest.raises(sg.TraceError, match="cannot be traced") as no:
        call(sg.input("x", (4,)), sg.input("a", (3, 3)))
    assert str(no.value).startswith(name)
    assert mend in str(no.value.mend)


def test_the_table_is_what_there_is() -> None:
    for module, names in MIRRORED.items():
        assert names == set(import_module(f"symgraph.scipy.{module}").__all__), module


def test_without_scipy_the_advice_is_numpys() -> None:
    with pytest.raises(sg.TraceError, match="Conversion to a NumPy array"):
        np.asarray(sg.input("x", (4,)))


def test_the_namespace_is_there_as_soon_as_arrays_are() -> None:
    code = "import symgraph as sg; assert sg.input('x').__array_namespace__().exp"
    subprocess.run([sys.executable, "-c", code], check=True)
