"""SciPy's names that this library lacks: the error says what to use instead."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import MissingAttribute
from ...source import user_frame

__all__ = ["INSTEAD", "absent"]

INSTEAD = {
    "integrate.quad": "Sum at fixed points: integrate.simpson, or np.polynomial.legendre.",
    "integrate.RK45": 'integrate.solve_ivp(..., method="RK45") takes steps of a fixed size.',
    "interpolate.interp1d": "np.interp is piecewise linear, and is traced.",
    "optimize.minimize": "sg.flat_objective(f, ...) makes value and gradient for it.",
    "optimize.root": "sg.root has its derivative by the implicit function theorem.",
    "optimize.fsolve": "sg.root has its derivative by the implicit function theorem.",
    "optimize.fixed_point": "sg.fixed_point has its derivative by the implicit function theorem.",
    "linalg.eig": "Of a symmetric matrix linalg.eigh gives real ones.",
    "linalg.eigvals": "Of a symmetric matrix linalg.eigvalsh gives real ones.",
    "linalg.logm": "Of a symmetric matrix: w, v = linalg.eigh(a); (v * np.log(w)) @ v.T.",
    "linalg.sqrtm": "Of a symmetric matrix: w, v = linalg.eigh(a); (v * np.sqrt(w)) @ v.T.",
    "linalg.lu": "linalg.solve, det and inv factorize by themselves; cholesky and qr give factors.",
    "linalg.lu_factor": "linalg.solve(a, b) takes several right sides at once.",
    "linalg.lu_solve": "linalg.solve(a, b) takes several right sides at once.",
    "linalg.schur": "Of a symmetric matrix linalg.eigh is its Schur form.",
    "signal.lfilter": "sg.scan is the recurrence; signal.convolve is the filter without feedback.",
}


_MODULES = {
    "interpolate": "np.interp is piecewise linear, and is traced.",
    "optimize": "sg.flat_objective(f, ...) gives an optimizer values and gradients; sg.root and "
    "sg.fixed_point are differentiated by the implicit function theorem.",
    "fft": "Transforms of complex numbers, of real ones, and of cosines and sines of types 2 and 3 "
    "are there.",
}


def absent(module: str, name: str, known: Sequence[str]) -> Exception:
    """The error for a name that a module of this package lacks."""
    if name.startswith("__"):
        return AttributeError(name)
    frame = user_frame()
    mend = INSTEAD.get(f"{module}.{name}") or _MODULES.get(module)
    return MissingAttribute(
        f"symgraph.scipy.{module} has no {name}.",
        [f"used at {frame.quoted()}"] if frame else [],
        mend=mend or f"It has {', '.join(sorted(known))}; sg.custom_op can add the rest.",
    )
