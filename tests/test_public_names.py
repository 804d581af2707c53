"""Every public name of NumPy, its linear algebra, and every ufunc of SciPy's special functions.

A name is in one of three groups: supported (its value is NumPy's, its gradient that of
differences), refused on purpose with advice, or given no array. A name that a new version brings
must be put in one of them: nothing fails obscurely.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from scipy import special

import symgraph as sg
from symgraph.testing import check_grads

NUMBERS = {
    "f": np.array([0.31, 0.52, 0.73, 0.9]),
    "g": np.array([0.23, 0.58, 0.36, 0.77]),
    "h": np.array([0.42, 0.19, 0.61, 0.85]),
    "up": np.array([0.1, 0.4, 0.8, 1.2]),
    "big": np.array([1.3, 1.9, 2.4]),
    "neg": np.array([-0.3, -1.2, -4.0]),
    "deg": np.array([20.0, 35.0, 50.0, 70.0]),
    "v": np.array([1.3, -0.4, 0.8]),
    "m": np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.2, 4.0]]),
    "n": np.array([[1.0, 0.5, 0.2], [0.3, 2.0, 0.1], [0.4, 0.6, 1.5]]),
    "s": np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.4], [0.1, 0.4, 4.0]]),
    "t": np.arange(8.0).reshape(2, 2, 2) ** 1.1,
    "i": np.array([3, 1, 2, 5]),
    "j": np.array([0, 2, 1, 3]),
    "b": np.array([True, False, True, True]),
}


class Given:
    """An argument that is an array of `NUMBERS`."""

    def __init__(self, name: str) -> None:
        self.name = name


f, g, h, up, big, neg, deg, v, m, n, s, t, i, j, b = map(Given, NUMBERS)

# -- how names are called; all others with one vector, ufuncs with as many as they take ------------
CALLS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        [
            "allclose",
            "append",
            "array_equal",
            "array_equiv",
            "convolve",
            "correlate",
            "dot",
            "full_like",
            "inner",
            "isclose",
            "isin",
            "kron",
            "outer",
            "polyadd",
            "polymul",
            "polysub",
            "polyval",
            "vdot",
            "linalg.outer",
            "linalg.vecdot",
            "geomspace",
            "linspace",
            "logspace",
            "trapezoid",
            "average",
            "cov",
            "corrcoef",
        ],
        (f, g),
    ),
    "corrcoef": (m,),
    "cov": (m, n),
    "average": (f, None, g),
    **dict.fromkeys(["digitize", "searchsorted"], (f, up)),
    "searchsorted": (up, f),
    **dict.fromkeys(["argpartition", "delete", "pad", "partition", "take"], (f, 2)),
    **dict.fromkeys(["percentile", "nanpercentile"], (f, [20, 70.0])),
    **dict.fromkeys(["quantile", "nanquantile"], (f, [0.2, 0.7])),
    **dict.fromkeys(
        [
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "bitwise_left_shift",
            "bitwise_right_shift",
            "left_shift",
            "right_shift",
            "gcd",
            "lcm",
            "ldexp",
        ],
        (i, j),
    ),
    "ldexp": (f, i),
    **dict.fromkeys(["bitwise_count", "bitwise_invert", "bitwise_not", "invert"], (i,)),
    **dict.fromkeys(
        [
            "concat",
            "concatenate",
            "diagonal",
            "fliplr",
            "matrix_transpose",
            "rot90",
            "trace",
            "linalg.cond",
            "linalg.det",
            "linalg.diagonal",
            "linalg.inv",
            "linalg.matrix_norm",
            "linalg.matrix_transpose",
            "linalg.pinv",
            "linalg.qr",
            "linalg.slogdet",
            "linalg.svd",
            "linalg.svdvals",
            "linalg.trace",
        ],
        (m,),
    ),
    **dict.fromkeys(["linalg.cholesky", "linalg.eigh", "linalg.eigvalsh"], (s,)),
    **dict.fromkeys(
        [
            "tensordot",
            "vecmat",
            "matvec",
            "linalg.lstsq",
            "linalg.solve",
            "linalg.tensordot",
            "linalg.matmul",
        ],
        (m, n),
    ),
    **dict.fromkeys(["cross", "linalg.cross"], (m, n)),
    **dict.fromkeys(["expand_dims", "rollaxis"], (m, 0)),
    **dict.fromkeys(["moveaxis", "swapaxes"], (m, 1, 0)),
    **dict.fromkeys(["split", "hsplit", "array_split", "vsplit"], (m, 3)),
    "full_like": (f, g),
    "apply_along_axis": (lambda x: x * x[0], 0, m),
    "apply_over_axes": (np.sum, t, [0, 2]),
    "astype": (f, np.float32),
    "bincount": (i, f, 6),
    "broadcast_to": (f, (2, 4)),
    "choose": (j, [f, g, h, up]),
    "compress": ([True, False, True], f),
    "copy": (f,),
    "dsplit": (t, 2),
    "einsum": ("ij,jk->k", m, n),
    "extract": ([True, False, True, True], f),
    "fft.fftshift": (f,),
    "histogram": (f, 3),
    "histogram_bin_edges": (f, 3),
    "insert": (f, 1, 0.5),
    "interp": (g, up, h),
    "lexsort": ((f, g),),
    "linalg.matrix_power": (n, 2),
    "linalg.multi_dot": ([m, n, s],),
    "linalg.tensorinv": (m, 1),
    "linalg.tensorsolve": (m, v),
    "piecewise": (f, [NUMBERS["f"] < 0.6], [np.sin, np.cos]),
    "polyfit": (f, g, 2),
    "ravel_multi_index": ((j, j), (6, 7)),
    "repeat": (f, 2),
    "reshape": (f, (2, 2)),
    "resize": (f, (2, 3)),
    "roll": (f, 1),
    "select": ([b], [f]),
    "take_along_axis": (f, j),
    "tile": (f, 2),
    "trapezoid": (f, up),
    "unravel_index": (i, (3, 4)),
    "vander": (f, 3),
    "where": (b, f, g),
    # Kinks of the row's default numbers, domains, whole parameters.
    **dict.fromkeys(["acosh", "arccosh"], (big,)),
    **dict.fromkeys(["sp.cosdg", "sp.cotdg", "sp.sindg", "sp.tandg"], (deg,)),
    **dict.fromkeys(
        [
            *[
                f"sp.{name}"
                for name in [
                    "iv",
                    "ive",
                    "jn",
                    "jv",
                    "jve",
                    "kv",
                    "kve",
                    "yv",
                    "yve",
                    "struve",
                    "modstruve",
                ]
            ],
            *["sp.hyp0f1", "sp.stdtr", "sp.stdtrit", "sp.chdtr", "sp.chdtrc", "sp.chdtri"],
            *["sp.gammainc", "sp.gammaincc", "sp.gammainccinv", "sp.gammaincinv"],
        ],
        (1.3, f),
    ),
    **dict.fromkeys(
        [
            "sp.betainc",
            "sp.betaincc",
            "sp.betainccinv",
            "sp.betaincinv",
            "sp.fdtr",
            "sp.fdtrc",
            "sp.hyp1f1",
            "sp.hyperu",
        ],
        (1.3, 1.7, f),
    ),
    **dict.fromkeys(["sp.gdtr", "sp.gdtrc"], (f, 1.7, g)),
    "sp.hyp2f1": (1.3, 0.7, 2.2, f),
    "sp.pdtri": (2, f),
    **dict.fromkeys(["sp.bdtri", "sp.nbdtri"], (2, 6, f)),
    "sp.fdtri": (2.5, 3.5, f),
    "sp.gdtrix": (g, 1.7, f),
    "sp.gdtria": (f, 1.7, g),
    "sp.lpmv": (1, 2.5, f),
    "sp.nrdtrisd": (f, 0.8, g),
    **dict.fromkeys(["sp.wright_bessel", "sp.log_wright_bessel"], (0.7, 1.2, f)),
    "sp.ellipj": (f, 0.4),
    "sp.ndtri_exp": (neg,),
    "sp.bdtr": (1, 4, f),
    "sp.bdtrc": (1, 4, f),
    "sp.nbdtr": (2, 3, f),
    "sp.nbdtrc": (2, 3, f),
    "sp.pdtr": (2, f),
    "sp.pdtrc": (2, f),
    "sp.kn": (2, f),
    "sp.yn": (2, f),
    "sp.expn": (2, f),
    **{
        f"sp.eval_{name}": (3, f)
        for name in (
            [
                "chebyt",
                "chebyu",
                "chebyc",
                "chebys",
                "sh_chebyt",
                "sh_chebyu",
                "legendre",
                "sh_legendre",
                "hermite",
                "hermitenorm",
                "laguerre",
            ]
        )
    },
    "sp.eval_genlaguerre": (3, g, f),
    "sp.eval_gegenbauer": (3, g, f),
    "sp.eval_jacobi": (3, g, h, f),
    "sp.eval_sh_jacobi": (3, 2.5, 1.2, f),
}

# -- given no array, or asked what no numbers are needed for ---------------------------------------
NO_ARRAYS = {
    "arange",
    "bartlett",
    "base_repr",
    "binary_repr",
    "blackman",
    "bmat",
    "broadcast_shapes",
    "can_cast",
    "common_type",
    "datetime_data",
    "diag_indices",
    "diag_indices_from",
    "empty",
    "eye",
    "format_float_positional",
    "format_float_scientific",
    "from_dlpack",
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "frompyfunc",
    "fromregex",
    "fromstring",
    "full",
    "genfromtxt",
    "get_include",
    "get_printoptions",
    "getbufsize",
    "geterr",
    "geterrcall",
    "hamming",
    "hanning",
    "identity",
    "indices",
    "info",
    "iscomplexobj",
    "isdtype",
    "isfortran",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "kaiser",
    "load",
    "loadtxt",
    "mask_indices",
    "min_scalar_type",
    "mintypecode",
    "ndim",
    "nested_iters",
    "ones",
    "printoptions",
    "promote_types",
    "result_type",
    "set_printoptions",
    "setbufsize",
    "seterr",
    "seterrcall",
    "shape",
    "show_config",
    "show_runtime",
    "size",
    "test",
    "tri",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "typename",
    "zeros",
    "linalg.test",
    "empty_like",
}

# -- refused, by what the message says -------------------------------------------------------------
REFUSED: dict[str, dict[str, tuple[Any, ...]]] = {
    "depends on values that are not known yet": {
        **dict.fromkeys(
            [
                "argwhere",
                "flatnonzero",
                "nonzero",
                "trim_zeros",
                "unique",
                "unique_all",
                "unique_counts",
                "unique_inverse",
                "unique_values",
            ],
            (f,),
        ),
        **dict.fromkeys(["intersect1d", "setdiff1d", "setxor1d", "union1d", "polydiv"], (f, g)),
    },
    "np.asarray(x) can be left out": dict.fromkeys(
        [
            "array",
            "asanyarray",
            "asarray",
            "asarray_chkfinite",
            "ascontiguousarray",
            "asfortranarray",
            "asmatrix",
            "require",
        ],
        (f,),
    ),
    # Each writes into an argument; `test_aliasing` and `test_writing` have them write into copies.
    "the caller's array would change": {
        "copyto": (f, g),
        "fill_diagonal": (m, 1.0),
        "place": (f, b, 0.0),
        "put": (f, 1, 0.0),
        "put_along_axis": (f, j, 0.0, 0),
        "putmask": (f, b, g),
    },
    "it makes text of values": dict.fromkeys(["array2string", "array_repr", "array_str"], (f,)),
    "to a file": {
        "save": ("x", f),
        "savetxt": ("x", f),
        "savez": ("x", f),
        "savez_compressed": ("x", f),
    },
    "it gives complex numbers": {
        **dict.fromkeys(["roots", "sort_complex"], (f,)),
        **dict.fromkeys(["linalg.eig", "linalg.eigvals"], (m,)),
    },
    "dates and times": {
        "busday_count": (i, i),
        "busday_offset": (i, i),
        "is_busday": (i,),
        "datetime_as_string": (i,),
        "isnat": (i,),
    },
    "bits are packed": {"packbits": (i,), "unpackbits": (i,)},
    "counts in bins of several dimensions": {"histogram2d": (f, g), "histogramdd": (m,)},
    "no place in memory": dict.fromkeys(["may_share_memory", "shares_memory"], (f, g)),
    "it plans contractions": {"einsum_path": ("ij,jk", m, n)},
}
REFUSED_SPECIAL = {
    "symbolic arrays are real": """
        hankel1 hankel1e hankel2 hankel2e kelvin modfresnelm modfresnelp wofz
    """,
    r"Make it an operation: special\.\w+ = sg\.custom_op": """
        itairy
        bdtrik bdtrin besselpoly btdtria btdtrib chdtriv chndtr chndtridf chndtrinc chndtrix
        elliprc elliprd elliprf elliprg elliprj fdtridfd gdtrib mathieu_a mathieu_b mathieu_cem
        mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2 mathieu_sem nbdtrik
        nbdtrin ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf nctdtrinc
        nctdtrit obl_ang1 obl_ang1_cv obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv pbdv pbvv
        pbwa pdtrik pro_ang1 pro_ang1_cv pro_cv pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv
        smirnov smirnovi stdtridf tklmbda zetac
    """,
}


def public() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for prefix, module in (("", np), ("linalg.", np.linalg), ("sp.", special)):
        for name in dir(module):
            value = getattr(module, name)
            if name.startswith("_") or not callable(value) or inspect.isclass(value):
                continue
            if prefix != "sp." or isinstance(value, np.ufunc):
                found[prefix + name] = value
    return found


NAMES = public()
REFUSALS = {name: (words, call) for words, calls in REFUSED.items() for name, call in calls.items()}
SPECIAL_REFUSALS = {
    f"sp.{name}": words for words, names in REFUSED_SPECIAL.items() for name in names.split()
}
SUPPORTED = sorted({*NAMES} - {*REFUSALS} - {*SPECIAL_REFUSALS} - NO_ARRAYS)


def arguments(name: str, function: Any) -> tuple[Any, ...]:
    if name in CALLS:
        return CALLS[name]
    return (f, g, h, up)[: function.nin] if isinstance(function, np.ufunc) else (f,)


def filled(given: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(given, Given):
        return arrays[given.name]
    if isinstance(given, (tuple, list)):
        return type(given)(filled(each, arrays) for each in given)
    return given


def used(given: Any) -> list[str]:
    if isinstance(given, Given):
        return [given.name]
    parts = given if isinstance(given, (tuple, list)) else ()
    return list(dict.fromkeys(name for part in parts for name in used(part)))


def symbols(names: Any) -> dict[str, Any]:
    return {name: sg.input(name, NUMBERS[name].shape, NUMBERS[name].dtype) for name in names}


def listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def test_every_name_is_in_one_group() -> None:
    groups = [{*REFUSALS}, {*SPECIAL_REFUSALS}, NO_ARRAYS]
    for one in range(3):
        for other in range(one):
            assert not groups[one] & groups[other]
    assert len(SUPPORTED) > 380


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("name", SUPPORTED)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_supported(name: str) -> None:
    function, call = NAMES[name], arguments(name, NAMES[name])
    wanted = listed(function(*filled(call, NUMBERS)))
    given = symbols(used(call))
    assert given
    found = listed(function(*filled(call, given)))
    values = sg.graph(*found, inputs=list(given.values())).evaluate(
        {each: NUMBERS[each] for each in given}
    )
    assert len(found) == len(wanted)
    for value, want in zip(listed(values), wanted, strict=True):
        assert value.shape == np.shape(want)
        assert value.dtype == np.asarray(want).dtype
        np.testing.assert_allclose(value, want, rtol=1e-9, atol=1e-12)


# Steps; and those that take their operand for symmetric, which a difference does not keep.
LEFT_OUT = {"nextafter", "spacing", "astype", "linalg.cholesky", "linalg.eigh", "linalg.eigvalsh"}


@pytest.mark.sampled(one_in=10)
@pytest.mark.parametrize("name", SUPPORTED)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_gradients(name: str) -> None:
    function, call = NAMES[name], arguments(name, NAMES[name])
    names = used(call)
    floating = [each for each in names if NUMBERS[each].dtype.kind == "f"]
    if name in LEFT_OUT or not floating:
        return

    def total(*arrays: Any) -> Any:
        given = {each: NUMBERS[each] for each in names}
        given.update(zip(floating, arrays, strict=True))
        found = [each for each in listed(function(*filled(call, given))) if each.dtype.kind == "f"]
        return (
            sum((k + 1) * np.sum(np.cos(each)) for k, each in enumerate(found))
            + 0 * arrays[0].sum()
        )

    check_grads(total, *[NUMBERS[each] for each in floating], order=1, analytic=False)


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_refused(name: str) -> None:
    if name not in NAMES:
        return
    words, call = REFUSALS[name]
    with pytest.raises(sg.SymgraphError, match=re.escape(words)) as refusal:
        NAMES[name](*filled(call, symbols(used(call))))
    assert "used at" in str(refusal.value)
    assert refusal.value.mend


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("name", SPECIAL_REFUSALS)
def test_special_functions_refused(name: str) -> None:
    if name not in NAMES:
        return
    function = NAMES[name]
    with pytest.raises(sg.TraceError, match=rf"scipy\.special\.{name[3:]} cannot be traced") as no:
        function(*[sg.input(f"x{k}", (3,)) for k in range(function.nin)])
    assert re.search(SPECIAL_REFUSALS[name], no.value.mend)
