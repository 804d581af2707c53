"""Linear algebra on the sample inputs that PyTorch tests its own operators with.

They ship with its wheel, as `op_db`: shapes with and without a batch, empty ones, every keyword.
Value and gradient of a weighted sum are compared with PyTorch's; what differs is listed with the
reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from torchsamples import op_db

import symgraph as sg
import symgraph.numpy as snp

pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore")]

Adapter = Callable[..., Any]


def hermitian(f: Adapter) -> Adapter:
    """Of x + x.T, as PyTorch's own checks feed functions of symmetric matrices."""
    return lambda x, *args, **keywords: f(x + x.mT, *args, **keywords)


def signless(results: Any) -> Any:
    return results[0], abs(results[1])


def svd(x: Any, full_matrices: bool) -> Any:
    # Of full matrices the samples look only at the first columns, those of the thin ones.
    return np.linalg.svd(x, full_matrices=False)


def pinv(x: Any, rtol: Any = None, hermitian: bool = False) -> Any:
    # A larger tolerance than 0 by default: what cancels to rounding is zero.
    return np.linalg.pinv(x, 1e-13 if rtol is None else float(rtol))


def lstsq(a: Any, b: Any, driver: str) -> Any:
    # NumPy takes one matrix at a time; when residuals are left out is up to the driver.
    return np.linalg.lstsq(a, b)[0] if a.ndim == 2 else None


def triangular(
    a: Any, b: Any, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Any:
    def solved(a: Any, b: Any, lower: bool) -> Any:
        return snp.linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unitriangular)

    return solved(a, b, not upper) if left else solved(a.mT, b.mT, upper).mT


def solve(a: Any, b: Any, *, left: bool = True) -> Any:
    vector = b.ndim == 1 or b.shape == a.shape[:-1]
    if vector:
        return np.linalg.solve(a, b[..., None])[..., 0]
    return np.linalg.solve(a, b) if left else np.linalg.solve(a.mT, b.mT).mT


def norm(x: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    if ord is None and dim is not None:
        return np.linalg.vector_norm(x, axis=dim, keepdims=keepdim)
    return np.linalg.norm(x, ord, axis=dim, keepdims=keepdim)


def norm_at_zero(x: Any, ord: Any = None, dim: Any = None, keepdim: bool = False) -> Any:
    # Of a zero matrix PyTorch takes U @ Vh for the subgradient, which depends on the basis that
    # LAPACK happens to choose; ours is 0, the same on every backend.
    return None if ord in (2, -2, "nuc") and x.ndim > 1 else norm(x, ord, dim, keepdim)


def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> Any:
    # A number has no axes in NumPy.
    return np.linalg.vector_norm(x, ord=ord, axis=dim if x.ndim else None, keepdims=keepdim)


def matrix_norm(x: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False) -> Any:
    return np.linalg.norm(x, ord, axis=dim, keepdims=keepdim)


ADAPTERS: dict[str, Adapter] = {
    "cross": lambda x, y, dim=-1: np.linalg.cross(x, y, axis=dim),
    "kron": np.kron,
    "outer": np.outer,
    "matrix_exp": snp.expm,
    "logdet": lambda x: np.log(np.linalg.det(x)),
    "pinverse": pinv,
    "cholesky": hermitian(lambda x, upper=False: np.linalg.cholesky(x, upper=upper)),
    "cholesky_solve": lambda b, c, upper=False: snp.linalg.cho_solve((c, not upper), b),
    "linalg.cross": lambda x, y, dim=-1: np.linalg.cross(x, y, axis=dim),
    "linalg.det": lambda x: np.linalg.det(x),
    "linalg.slogdet": lambda x: tuple(np.linalg.slogdet(x)),
    "linalg.diagonal": lambda x, offset=0, dim1=-2, dim2=-1: np.diagonal(x, offset, dim1, dim2),
    "linalg.cholesky": hermitian(lambda x, upper=False: np.linalg.cholesky(x, upper=upper)),
    "linalg.vecdot": lambda x, y, dim=-1: np.vecdot(x, y, axis=dim),
    "linalg.cond": lambda x: np.linalg.cond(x),
    "linalg.eigh": hermitian(lambda x, UPLO="L": signless(np.linalg.eigh(x, UPLO))),
    "linalg.eigvalsh": hermitian(lambda x, UPLO="L": np.linalg.eigvalsh(x, UPLO)),
    "linalg.matrix_power": lambda x, n: np.linalg.matrix_power(x, n),
    "linalg.multi_dot": lambda *each: np.linalg.multi_dot(each),
    "linalg.norm": norm,
    "linalg.norm/subgradients_at_zero": norm_at_zero,
    "linalg.matrix_norm": matrix_norm,
    "linalg.vector_norm": vector_norm,
    "linalg.inv": lambda x: np.linalg.inv(x),
    "linalg.solve": solve,
    "linalg.solve_triangular": triangular,
    "linalg.pinv": pinv,
    "linalg.pinv/hermitian": hermitian(pinv),
    "linalg.pinv/singular": lambda a, b: pinv(a @ b.mT),
    "linalg.lstsq/grad_oriented": lstsq,
    "linalg.qr": lambda x, mode="reduced": tuple(np.linalg.qr(x, mode)),
    "linalg.svdvals": lambda x: np.linalg.svdvals(x),
    "linalg.svd": svd,
    "linalg.tensorinv": lambda x, ind=2: np.linalg.tensorinv(x, ind=ind),
    "linalg.tensorsolve": lambda a, b, dims=None: np.linalg.tensorsolve(a, b, axes=dims),
}


# What samples of svd look at, by the name of the function they bring.
SEEN: dict[str, Adapter] = {
    "fn_U": lambda u, s, vh: (abs(u),),
    "fn_S": lambda u, s, vh: (s,),
    "fn_Vh": lambda u, s, vh: (s, abs(vh)),
    "fn_UVh": lambda u, s, vh: (u @ vh, s),
}


def samples(name: str, op: Any) -> list[Any]:
    import torch

    torch.manual_seed(0)
    return list(op.sample_inputs("cpu", torch.float64, requires_grad=True))


@pytest.mark.parametrize("name", ADAPTERS)
def test_samples(name: str) -> None:
    op = op_db()[name]
    agreed = 0
    for sample in samples(name, op):
        inputs = sample.input if isinstance(sample.input, (list, tuple)) else [sample.input]
        agreed += compare(op, ADAPTERS[name], inputs, sample)
    assert agreed


def compare(op: Any, f: Adapter, inputs: list[Any], sample: Any) -> int:
    """Compare one sample; 1 if there is something to compare."""
    import torch

    args = [*inputs, *sample.args]
    tensors = {f"x{i}": each for i, each in enumerate(args) if isinstance(each, torch.Tensor)}
    at = {key: each.detach().numpy() for key, each in tensors.items()}
    symbols = {key: sg.input(key, each.shape) for key, each in at.items()}
    ours = f(*[symbols.get(f"x{i}", each) for i, each in enumerate(args)], **sample.kwargs)
    process = sample.output_process_fn_grad
    if ours is None:
        return 0
    if process.__name__ in SEEN:
        ours = SEEN[process.__name__](*ours)
    ours = ours if isinstance(ours, tuple) else (ours,)
    theirs = process(op.gradcheck_wrapper(op.op, sample.input, *sample.args, **sample.kwargs))
    theirs = theirs[: len(ours)] if isinstance(theirs, (tuple, list)) else (theirs,)
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=tuple(each.shape)) for each in theirs]
    wanted = [key for key, each in tensors.items() if each.requires_grad]
    total = sum(torch.sum(torch.as_tensor(w) * y) for w, y in zip(weights, theirs, strict=True))
    expected = torch.autograd.grad(total, [tensors[key] for key in wanted], allow_unused=True)
    loss = sum(np.sum(w * y) for w, y in zip(weights, ours, strict=True))
    graph = sg.graph(loss, inputs=list(symbols.values())).gradient(*wanted)
    value, *found = flat(graph.evaluate(**at))
    about = f"{[each.shape for each in at.values()]} {sample.kwargs} {process.__name__}"
    np.testing.assert_allclose(value, total.detach().numpy(), rtol=1e-9, atol=1e-9, err_msg=about)
    for got, want, key in zip(found, expected, wanted, strict=True):
        numbers = np.zeros(at[key].shape) if want is None else want.numpy()
        scale = np.max(np.abs(numbers), initial=1.0)
        np.testing.assert_allclose(got, numbers, rtol=1e-7, atol=1e-9 * scale, err_msg=about)
    return 1


def flat(results: Any) -> list[Any]:
    value, gradients = results
    return [value, *(gradients if isinstance(gradients, tuple) else (gradients,))]
