"""scipy.fft: SciPy's values on numbers, gradients on symbols, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft

import symgraph as sg
from symgraph.scipy import fft

RNG = np.random.default_rng(0)
SHAPES = [(1,), (2,), (5,), (8,), (3, 4)]
REAL = ["dct", "idct", "dst", "idst"]
COMPLEX = ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"]


def lowered(f: Any, x: Any) -> Any:
    return sg.trace(f, x=x).lower()(x=x)


@pytest.mark.sampled(one_in=8)
@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_cosines_and_sines(name: str, kind: int, norm: Any) -> None:
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    for shape in SHAPES:
        x = RNG.normal(size=shape)
        for axis in range(len(shape)):
            for n in (None, 3, 7):
                want = theirs(x, kind, n, axis, norm)
                np.testing.assert_allclose(ours(x, kind, n, axis, norm), want, atol=1e-12)
                found = lowered(lambda x, n=n, axis=axis: ours(x, kind, n, axis, norm), x)
                np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", [f"{each}n" for each in REAL])
@pytest.mark.parametrize("options", [{}, {"axes": 0}, {"s": (5, 2)}, {"type": 3, "axes": (1, 0)}])
def test_along_several_axes(name: str, options: Any) -> None:
    x = RNG.normal(size=(3, 4))
    want = getattr(scipy.fft, name)(x, **options)
    np.testing.assert_allclose(getattr(fft, name)(x, **options), want, atol=1e-12)
    found = lowered(lambda x: getattr(fft, name)(x, **options), x)
    np.testing.assert_allclose(found, want, atol=1e-12)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", [*COMPLEX, "rfft", "rfft2", "rfftn", "irfft", "irfft2", "irfftn"])
def test_fourier_transforms(name: str) -> None:
    x = RNG.normal(size=(3, 4))
    ours, theirs = getattr(fft, name), getattr(scipy.fft, name)
    z = x if "rfft" in name and not name.startswith("i") else x + 1j * x[::-1]
    np.testing.assert_allclose(ours(z), theirs(z), atol=1e-12)
    found = sg.vmap(lambda z: ours(z[None, :, None] if z.ndim == 1 else z), in_axes=0)(z[None])
    np.testing.assert_allclose(found[0], theirs(z), atol=1e-12)


def test_gradient_of_cepstral_coefficients() -> None:
    def cepstrum(x: Any) -> Any:
        return np.sum(fft.dct(np.log(np.abs(fft.rfft(x)) ** 2 + 0.1), norm="ortho")[:3] ** 2)

    x, step = RNG.normal(size=8), 1e-6
    want = [(cepstrum(x + step * e) - cepstrum(x - step * e)) / (2 * step) for e in np.eye(8)]
    np.testing.assert_allclose(sg.grad(cepstrum)(x), want, rtol=1e-6, atol=1e-8)


def test_the_transform_of_parseval_is_short() -> None:
    graph = sg.trace(lambda x, w: np.sum(w * np.abs(np.fft.rfft(x)) ** 2), x=8, w=5)
    assert graph.gradient("x", value=False).simplify().op_count() == 5


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x: fft.dct(x, 1), "type 1"),
        (lambda x: fft.dct(x, norm="all"), "norm='all'"),
        (lambda x: fft.dct(x, orthogonalize=True), "orthogonalize=True"),
        (lambda x: fft.dst(x, axis=1), "axis 1"),
    ],
)
def test_what_is_refused(call: Any, told: str) -> None:
    with pytest.raises(sg.InputError, match=told):
        sg.trace(call, x=4)


def test_single_precision_stays() -> None:
    x = np.ones(4, np.float32)
    assert lowered(lambda x: fft.dst(x), x).dtype == np.float32
    assert lowered(lambda x: np.abs(np.fft.rfft(x)), x).dtype == np.float32
