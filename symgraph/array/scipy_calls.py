"""Which function of SciPy asked a symbolic array for numbers, and what to call instead.

SciPy's functions that are no ufuncs make NumPy arrays of their arguments. With SCIPY_ARRAY_API=1 a
few ask for the array's own namespace first: of those mirrored here, `special.softmax` and
`integrate.cumulative_trapezoid` of SciPy 1.17 then trace, the others do not. None calls a hook that
tells its name, so the name is read from the frames on the way.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

__all__ = ["MIRRORED", "scipy_call"]

MIRRORED: dict[str, frozenset[str]] = {
    "special": frozenset(
        [
            "comb",
            "factorial",
            "log_expit",
            "log_softmax",
            "logsumexp",
            "multigammaln",
            "perm",
            "softmax",
        ]
    ),
    "stats": frozenset(
        [
            "bernoulli",
            "beta",
            "betabinom",
            "binom",
            "cauchy",
            "chi2",
            "dirichlet",
            "energy_distance",
            "entropy",
            "expon",
            "f",
            "fisk",
            "gamma",
            "gaussian_kde",
            "genextreme",
            "gennorm",
            "genpareto",
            "geom",
            "gmean",
            "gumbel_l",
            "gumbel_r",
            "halfcauchy",
            "halfnorm",
            "hmean",
            "invgamma",
            "invgauss",
            "kurtosis",
            "laplace",
            "logistic",
            "lognorm",
            "lomax",
            "moment",
            "multinomial",
            "multivariate_normal",
            "multivariate_t",
            "nbinom",
            "norm",
            "pareto",
            "pearsonr",
            "pmean",
            "poisson",
            "rayleigh",
            "sem",
            "skew",
            "skewnorm",
            "t",
            "truncnorm",
            "uniform",
            "variation",
            "vonmises",
            "wasserstein_distance",
            "weibull_min",
            "zscore",
        ]
    ),
    "linalg": frozenset(
        [
            "block_diag",
            "cho_factor",
            "cho_solve",
            "cholesky",
            "circulant",
            "det",
            "eigh",
            "eigvalsh",
            "expm",
            "hankel",
            "inv",
            "khatri_rao",
            "lstsq",
            "kron",
            "norm",
            "pinv",
            "qr",
            "solve",
            "solve_banded",
            "solve_continuous_are",
            "solve_continuous_lyapunov",
            "solve_discrete_are",
            "solve_discrete_lyapunov",
            "solve_sylvester",
            "solve_triangular",
            "sqrtm",
            "svd",
            "svdvals",
            "toeplitz",
        ]
    ),
    "signal": frozenset(
        [
            "convolve",
            "convolve2d",
            "correlate",
            "correlate2d",
            "detrend",
            "fftconvolve",
            "filtfilt",
            "hilbert",
            "lfilter",
            "lfilter_zi",
            "oaconvolve",
            "savgol_filter",
            "sosfilt",
            "sosfilt_zi",
            "sosfiltfilt",
        ]
    ),
    "fft": frozenset(
        [
            *["fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "fftshift", "ifftshift"],
            *["fftfreq", "rfftfreq"],
            *["rfft", "rfft2", "rfftn", "irfft", "irfft2", "irfftn"],
            *["dct", "dctn", "idct", "idctn", "dst", "dstn", "idst", "idstn"],
        ]
    ),
    "interpolate": frozenset(
        ["Akima1DInterpolator", "CubicSpline", "PchipInterpolator", "RegularGridInterpolator"]
    ),
    "integrate": frozenset(
        ["cumulative_trapezoid", "fixed_quad", "odeint", "simpson", "solve_ivp", "trapezoid"]
    ),
}
"""The names in `symgraph.scipy`, by module."""

_INSTEAD = {
    "optimize": "sg.flat_objective(f, ...) gives an optimizer values and gradients outside of the "
    "traced function; sg.root and sg.fixed_point solve inside of one.",
    "interpolate": "np.interp is traced, and CubicSpline, PchipInterpolator and "
    "RegularGridInterpolator of symgraph.scipy.interpolate.",
    "spatial": "Distances of rows are np.linalg.norm(x[:, None] - y, axis=-1), and "
    "x @ r.as_matrix().T is turned by a rotation r of known angles; sg.custom_op makes "
    "an operation of any other function.",
    "ndimage": "A filter whose weights are known is symgraph.scipy.signal.convolve(x, weights, "
    '"same"); at its ends np.pad says what lies beyond.',
    "sparse": "Of a sparse matrix A, A @ x and c * (A @ x) are traced; sg.cg(lambda v: A @ v, b) "
    "solves with a positive definite one. For all else A.toarray() is an array.",
    "fft": "np.fft is traced, and symgraph.scipy.fft with cosine and sine transforms.",
}
_INSTEAD_OF_ONE: dict[str, str] = {
    "integrate.quad": "symgraph.scipy.integrate.fixed_quad sums at fixed points.",
    "integrate.RK45": 'integrate.solve_ivp(..., method="RK45") takes steps of a fixed size.',
    "interpolate.interp1d": "np.interp is piecewise linear, and is traced.",
    "optimize.minimize": "sg.flat_objective(f, ...) makes value and gradient for it.",
    "optimize.root": "sg.root has its derivative by the implicit function theorem.",
    "optimize.fsolve": "sg.root has its derivative by the implicit function theorem.",
    "optimize.fixed_point": "sg.fixed_point has its derivative by the implicit function theorem.",
    "ndimage.map_coordinates": "symgraph.scipy.interpolate.RegularGridInterpolator is linear "
    "between the pixels.",
    "linalg.eig": "Of a symmetric matrix linalg.eigh gives real ones.",
    "linalg.eigvals": "Of a symmetric matrix linalg.eigvalsh gives real ones. A single real one is "
    "sg.root(lambda w: np.linalg.det(a - w * np.eye(n)), w0).",
    "linalg.logm": "Of a symmetric matrix: w, v = linalg.eigh(a); (v * np.log(w)) @ v.T.",
    "linalg.lu": "linalg.solve, det and inv factorize by themselves; cholesky and qr give factors.",
    "linalg.lu_factor": "linalg.solve(a, b) takes several right sides at once.",
    "linalg.lu_solve": "linalg.solve(a, b) takes several right sides at once.",
    "stats.iqr": "np.percentile(x, [25, 75]) are the quartiles.",
    "stats.trim_mean": "np.mean(np.sort(x)[k:-k]) leaves k elements out at each end.",
    "linalg.schur": "Of a symmetric matrix linalg.eigh is its Schur form.",
}
_OTHERWISE = "symgraph.scipy has {known}; sg.custom_op makes an operation of any other function."


def scipy_call() -> tuple[str, str] | None:
    """The function of SciPy that the user called, and how to go on; None outside of SciPy."""
    frames = _scipy_frames()
    if not frames:
        return None
    for frame in frames:
        module, name = _called(frame)
        if name and _is_public(module, name.partition(".")[0]):
            return f"scipy.{module}.{name}", _mend(module, name)
    module = next((each for each, _ in map(_called, frames) if each != "_lib"), "")
    return f"A function of {f'scipy.{module}' if module else 'SciPy'}", _mend(module, "")


def _scipy_frames() -> list[FrameType]:
    """Frames of SciPy's between here and the user's, outermost first."""
    found: list[FrameType] = []
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        package = (frame.f_globals.get("__name__") or "").partition(".")[0]
        if package == "scipy":
            found.append(frame)
        elif package not in ("symgraph", "numpy"):
            break
        frame = frame.f_back
    return found[::-1]


def _called(frame: FrameType) -> tuple[str, str]:
    """The module and name of the function that a frame runs or, as a decorator, wraps."""
    module = _module(frame.f_globals.get("__name__"))
    wrapped = frame.f_locals.get("f" if module == "_lib" else "hypotest_fun_in")
    if wrapped is not None:  # `stats` has a decorator of its own, for axes and NaN.
        return _module(getattr(wrapped, "__module__", "")), getattr(wrapped, "__name__", "")
    return module, _method(frame) if "self" in frame.f_locals else frame.f_code.co_name


def _module(name: object) -> str:
    """`stats`, of a module somewhere in scipy.stats."""
    parts = str(name or "").split(".")
    return parts[1] if len(parts) > 1 else ""


def _is_public(module: str, name: str) -> bool:
    return not name.startswith("_") and hasattr(sys.modules.get(f"scipy.{module}"), name)


def _method(frame: FrameType) -> str:
    """`norm.logpdf` of a frame in that method; `CubicSpline` where one is made."""
    owner: Any = frame.f_locals["self"]
    method = frame.f_code.co_name
    dist = vars(owner).get("dist", owner) if hasattr(owner, "__dict__") else owner
    name = vars(dist).get("name") if hasattr(dist, "__dict__") else None
    if not isinstance(name, str):
        name = type(dist).__name__.removesuffix("_gen").removesuffix("_frozen")
    return name if method.startswith("__") else "" if method[0] == "_" else f"{name}.{method}"


def _mend(module: str, name: str) -> str:
    if name.partition(".")[0] in MIRRORED.get(module, ()):
        return f"Use symgraph.scipy.{module}.{name}."
    if f"{module}.{name}" in _INSTEAD_OF_ONE:
        return _INSTEAD_OF_ONE[f"{module}.{name}"]
    if module in _INSTEAD:
        return _INSTEAD[module]
    known = [f"{each}: {', '.join(sorted(names))}" for each, names in MIRRORED.items()]
    mirrored = [each for each in known if each.startswith(f"{module}:")]
    return _OTHERWISE.format(known="; ".join(mirrored or sorted(MIRRORED)))
