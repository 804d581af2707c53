"""Graphs lowered to torch: tensors in and out, NumPy in and out, and what is refused."""

from __future__ import annotations

import weakref
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy import special

import symgraph as sg
from symgraph.backends.capabilities import check_dtypes
from symgraph.backends.conformance import check_backend, check_dag, numbers_for
from symgraph.backends.samples import op_samples
from symgraph.errors import BackendError, InputError
from symgraph.ir.op import OPS

pytestmark = [pytest.mark.oracle, pytest.mark.timeout(1200)]
torch = pytest.importorskip("torch", reason="the torch extra is not installed")
pytest.importorskip("array_api_compat", reason="the torch extra is not installed")
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from symgraph.backends.torch import BACKEND  # noqa: E402  # it needs torch
from symgraph.backends.torch_namespace import TorchNamespace  # noqa: E402

X, Y = np.array([0.3, -1.2, 0.0]), np.array([1.0, 2.0, 3.0])


def f(x: Any, y: Any) -> Any:
    return np.sum(np.tanh(x) ** 2 * y)


@pytest.fixture(scope="module")
def joint() -> Any:
    return sg.trace(f, x="n", y="n").gradient("x").simplify().lower(BACKEND)


def slope(x: Any, y: Any) -> Any:
    return 2 * np.tanh(x) * (1 - np.tanh(x) ** 2) * y


def test_it_is_found_by_its_name() -> None:
    assert sg.trace(f, x="n", y="n").lower("torch").backend is BACKEND


def test_numpy_gives_numpy_and_tensors_give_tensors(joint: Any) -> None:
    value, found = joint(X, Y)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, slope(X, Y), rtol=1e-12)
    for given in ((torch.tensor(X), torch.tensor(Y)), (torch.tensor(X), Y)):
        value, found = joint(*given)
        assert isinstance(found, torch.Tensor)
        assert found.dtype == value.dtype == torch.float64
        assert found.device == given[0].device
        np.testing.assert_allclose(found.numpy(), slope(X, Y), rtol=1e-12)


def test_reversed_and_read_only_memory(joint: Any) -> None:
    frozen = np.array(Y)
    frozen.flags.writeable = False
    np.testing.assert_allclose(joint(X[::-1], frozen)[1], slope(X[::-1], Y), rtol=1e-12)
    np.testing.assert_array_equal(frozen, [1, 2, 3])


def test_results_share_no_memory_with_inputs() -> None:
    f = sg.trace(lambda x: (x, x.T, np.reshape(x, (-1,))), x="2, 3").lower(BACKEND)
    x = torch.ones((2, 3), dtype=torch.float64)
    results = f(x)
    for each in results:
        each += 1
    assert float(x.sum()) == 6
    assert [float(each.sum()) for each in results] == [12, 12, 12]


class Alive(TorchDispatchMode):
    """Counts the tensors of a size that are alive at once."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size, self.most = size, 0
        self.seen: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **kwargs or {})
        if isinstance(found, torch.Tensor) and found.numel() == self.size:
            self.seen.append(weakref.ref(found))
        self.most = max(self.most, sum(each() is not None for each in self.seen))
        return found


def test_memory_is_given_back_after_its_last_use() -> None:
    def chain(x: Any) -> Any:
        for step in range(20):
            x = np.sin(x) + float(step)
        return x

    lowered, x = sg.trace(chain, x="n").lower("torch"), torch.ones(999, dtype=torch.float64)
    with Alive(999) as alive:
        found = lowered(x)
    np.testing.assert_allclose(found.numpy(), chain(np.ones(999)))
    assert len(alive.seen) > 20
    assert alive.most <= 3


def test_kept_constants_serve_autograd_transformations_and_inference_alike() -> None:
    table = np.array([0.5, -1.5, 2.5])
    lowered = sg.trace(lambda x: (np.sum(np.sin(x) * table), table * 2), x="3").lower("torch")
    x = torch.tensor(X)
    wanted = np.cos(X) * table

    def loss(x: Any) -> Any:
        return lowered(x)[0]

    for _ in range(2):
        with torch.inference_mode():
            np.testing.assert_allclose(lowered(x)[0].numpy(), np.sum(np.sin(X) * table))
        np.testing.assert_allclose(torch.func.grad(loss)(x).numpy(), wanted)
        rows = torch.func.vmap(torch.func.grad(loss))(torch.stack([x, x]))
        np.testing.assert_allclose(rows.numpy(), [wanted, wanted])
        on_tape = x.clone().requires_grad_()
        loss(on_tape).backward()
        np.testing.assert_allclose(on_tape.grad.numpy(), wanted)
        result = lowered(x)[1]
        np.testing.assert_array_equal(result.numpy(), table * 2)
        result.zero_()  # It is the caller's.


def test_dtypes_widen_and_are_refused_where_digits_would_be_lost(joint: Any) -> None:
    assert joint(torch.ones(3), Y)[1].dtype == torch.float64
    narrow = sg.trace(np.exp, x=sg.spec("n", "float32")).lower(BACKEND)
    with pytest.raises(InputError, match="float64, but float32 was declared"):
        narrow(torch.ones(3, dtype=torch.float64))
    with pytest.raises(InputError, match="bfloat16"):
        narrow(torch.ones(3, dtype=torch.bfloat16))


def test_tensors_of_two_devices_are_refused(joint: Any) -> None:
    with pytest.raises(InputError, match="several devices: cpu, meta"):
        joint(torch.tensor(X), torch.tensor(Y, device="meta"))


def test_a_device_that_is_not_here_is_refused(joint: Any) -> None:
    graph = sg.Graph(joint.dag)
    here = BACKEND.capabilities.devices
    assert here[0] == "cpu"
    missing = next(kind for kind in ("cuda", "mps", "xpu") if kind not in here)
    with pytest.raises(BackendError, match=f"no device '{missing}' here") as told:
        graph.lower("torch", device=missing)
    assert "here: cpu" in str(told.value)
    np.testing.assert_allclose(graph.lower("torch", device="cpu")(X, Y)[1], slope(X, Y))
    with pytest.raises(InputError, match="on meta, but the graph was lowered for cpu"):
        graph.lower("torch", device="cpu")(torch.tensor(X, device="meta"), Y)


def test_a_device_without_double_precision_is_refused(joint: Any) -> None:
    has = BACKEND.capabilities
    with pytest.raises(BackendError, match=r"no float64 on mps\.") as told:
        check_dtypes(joint.dag, "torch", has, "mps")
    assert "test_torch.py" in str(told.value)
    check_dtypes(joint.dag, "torch", has, "cuda")
    check_dtypes(sg.trace(np.exp, x=sg.spec("n", "float32")).dag, "torch", has, "mps")


def test_scipy_is_not_called_for_tensors_of_another_device() -> None:
    graph = sg.trace(lambda x: special.jv(1.0, x), x="n")
    np.testing.assert_allclose(graph.lower("torch")(X), special.jv(1.0, X))
    with pytest.raises(BackendError, match=r"SciPy computes on the host.*meta"):
        graph.lower("torch")(torch.tensor(X, device="meta"))


OWN = """digamma entr erf erfc erfcx erfinv expit gammaln i0 i0e i1 i1e log_expit log_ndtr logit
ndtr ndtri psi"""
EDGES = np.array(
    [0.0, -0.0, 0.5, 1, -1, 2, -2.5, -9, 30, -40, 1e-200, 1e200, np.inf, -np.inf, np.nan]
)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", OWN.split())
def test_special_functions_of_torch_have_scipys_values(name: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = np.concatenate([EDGES, np.linspace(-12, 12, 97)]).astype(dtype)
        own = getattr(BACKEND.namespace.special, name)(torch.tensor(x)).numpy()
        wanted = getattr(special, name)(x)
    assert own.dtype == wanted.dtype
    near = 1e-12 if dtype == "float64" else 1e-4
    np.testing.assert_allclose(own, wanted, rtol=near, atol=1e-300 if dtype == "float64" else 1e-37)


def test_kernels_create_tensors_where_the_inputs_are_without_a_device_context(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A tensor elsewhere is an error of torch's or of the result; a context calls Python often."""
    context = import_module("torch.utils._device").DeviceContext
    monkeypatch.setattr(context, "__torch_function__", None)
    made, wrong = 0, dict[str, str]()
    for op in [each for each in OPS.values() if not each.custom]:
        for dag in op_samples(op):
            rng = np.random.default_rng(0)
            given = [torch.tensor(numbers_for(each, rng, 3)) for each in dag.inputs.values()]
            if not given:
                continue
            try:
                found = sg.Graph(dag).lower("torch")(*[each.to("meta") for each in given])
            except BackendError as error:  # It has no kernel, or reads a number.
                if "has no" not in f"{error}" and "item() cannot be called" not in f"{error}":
                    wrong[op.name] = f"{error}"
                continue
            made += 1
            for each in found if isinstance(found, (tuple, list)) else [found]:
                if not each.is_meta:
                    wrong[op.name] = f"a result on {each.device}"
    assert wrong == {}
    assert made > 1000


def test_the_functions_that_create_tensors_are_all_known() -> None:
    names = {each.__name__ for each in import_module("torch.utils._device")._device_constructors()}
    elsewhere = [name for name in names if name.startswith(("sparse", "empty_", "nested", "fft"))]
    known = BACKEND.namespace.module
    unknown = [
        name
        for name in names.difference(elsewhere, ("range", "asarray"))
        if hasattr(known, name) and getattr(getattr(known, name), "keywords", None) is None
    ]
    assert unknown == []
    there = TorchNamespace(torch.device("meta"))
    for given in (X, X[:1], X[0], np.array(7, "uint32")):
        assert there.from_numpy(given).is_meta
        assert there.asarray(given).is_meta
    for number in (2, 2.0, True):
        assert there.asarray(number).is_meta
        assert there.maximum(there.from_numpy(X), number).is_meta


@pytest.mark.parametrize(
    "number",
    [True, 0.0, -0.0, np.nan, np.inf, 0.1, 65504, 5e-324, 1e-45, 1.7e308, 255, 2**31, 2**63 - 1],
)
def test_arrays_of_one_number_keep_their_bits(number: Any) -> None:
    for dtype in ("bool", "float16", "float32", "float64", "uint8", "int8", "int64", "uint64"):
        with np.errstate(all="ignore"):
            x = np.asarray(number).astype(dtype)
        for given in (x, x.reshape(1, 1)):
            found = BACKEND.namespace.from_numpy(given).numpy()
            assert (found.dtype, found.shape) == (given.dtype, given.shape)
            assert found.tobytes() == given.tobytes()


@pytest.mark.parametrize("name", ["maximum", "minimum", "hypot", "logaddexp", "arctan2"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool"])
def test_python_numbers_beside_tensors(name: str, dtype: str) -> None:
    compat = import_module("array_api_compat.torch")
    x = torch.tensor([0.0, -1.0, 2.0]).to(getattr(torch, dtype))
    own = getattr(BACKEND.namespace, name)
    general = getattr(compat, "atan2" if name == "arctan2" else name)
    for number in (0.5, -0.0, np.inf, np.nan, 3, True):
        for given in ((x, number), (number, x)):
            try:
                wanted = general(*given)
            except (NotImplementedError, RuntimeError):
                continue
            found = own(*given)
            assert found.dtype == wanted.dtype
            np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_a_kernel_of_a_users_creates_tensors_on_the_device_too() -> None:
    @sg.custom_op(any_backend=True, infer=lambda x: (x.shape, x.dtype))
    def shifted(xp: Any, x: Any) -> Any:
        return x + torch.arange(3, dtype=torch.float64) + xp.ones((3,), dtype=x.dtype)

    looped = sg.trace(lambda x: sg.scan(lambda c, _: (shifted(c), None), x, x)[0], x="3")
    for graph in (sg.trace(shifted, x="3"), looped):
        assert graph.lower("torch")(torch.ones(3, dtype=torch.float64, device="meta")).is_meta
    found = looped.lower("torch")(torch.tensor(X))
    np.testing.assert_allclose(found.numpy(), X + 3 * (1 + np.arange(3)))


@pytest.mark.parametrize(
    "at",
    [
        np.s_[::-1],
        np.s_[3:0:-2, None, ::-1],
        np.s_[..., ::-3],
        np.s_[2, ..., ::-1, 1],
        np.s_[-1:-9:-1, :, 4:2],
        np.s_[0:3:-1],
        np.s_[None, ::-2, 1, None, ::2],
    ],
    ids=str,
)
def test_slices_that_go_backwards(at: Any) -> None:
    x = np.random.default_rng(0).normal(size=(4, 3, 5))
    y = np.random.default_rng(1).normal(size=x[at].shape)
    own, values, names = torch.tensor(x), torch.tensor(y), BACKEND.namespace
    np.testing.assert_array_equal(names.getitem(own, at).numpy(), x[at])
    for given, wanted in ((values, y), (2.0, 2.0), (values[..., :1], y[..., :1])):
        written, added = x.copy(), x.copy()
        written[at] = wanted
        added[at] += wanted
        np.testing.assert_array_equal(names.scatter_set(own, at, given).numpy(), written)
        np.testing.assert_array_equal(names.scatter_add(own, at, given).numpy(), added)
    np.testing.assert_array_equal(own.numpy(), x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8"])
def test_signs(dtype: str) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        x = EDGES.clip(-9, 9).astype(dtype) if dtype[0] != "f" else EDGES.astype(dtype)
    for each in (x, *x):
        found = sg.trace(np.sign, x=sg.spec(each.shape, dtype)).lower("torch")(each)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.sign(each))
        same = np.isnan(found) | (np.signbit(found) == np.signbit(np.sign(each)))
        assert np.all(same)


def test_whole_numbers_divided_by_zero_are_zero_as_in_numpy() -> None:
    x, y = np.array([5, -7, 3]), np.array([0, 2, -2])
    for f in (np.floor_divide, np.remainder, np.fmod):
        whole = sg.spec("3", "int64")
        found = sg.trace(lambda x, y, f=f: f(x, y), x=whole, y=whole).lower("torch")(x, y)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(found, f(x, y))


@pytest.mark.parametrize("how", ["eager", "aot_eager"])
def test_a_compiled_program_gives_values_and_is_differentiated(joint: Any, how: str) -> None:
    run = sg.Graph(joint.dag).lower("torch", compile=how)
    for rows in (1, 2):
        x, y = np.tile(X, rows), np.tile(Y, rows)
        np.testing.assert_allclose(run(x, y)[1], slope(x, y), rtol=1e-12)
    given = torch.tensor(X, requires_grad=True)
    run(given, torch.tensor(Y))[0].backward()
    np.testing.assert_allclose(given.grad.numpy(), slope(X, Y), rtol=1e-12)


def test_a_program_that_reads_numbers_is_not_compiled() -> None:
    def f(x: Any) -> Any:
        return sg.while_loop(lambda x: np.sum(x) < 100, lambda x: 2 * x, x)

    graph = sg.trace(f, x="3")
    np.testing.assert_allclose(graph.lower("torch")(Y), f(Y))
    for each in (graph, sg.trace(lambda x: special.jv(1.0, x), x="3")):
        with pytest.raises(BackendError) as told:
            each.lower("torch", compile="eager")(Y)
        assert "reads numbers" in "".join(told.value.__notes__)


def test_torch_differentiates_what_was_lowered(joint: Any) -> None:
    x = torch.tensor(X, requires_grad=True)
    value, _ = joint(x, torch.tensor(Y))
    (found,) = torch.autograd.grad(value, x)
    np.testing.assert_allclose(found.numpy(), slope(X, Y), rtol=1e-12)


def test_samples_run_or_are_refused_by_name_and_none_is_wrong() -> None:
    total, refused = 0, dict[str, BackendError]()
    for op in [each for each in OPS.values() if not each.custom]:
        for dag in op_samples(op):
            total += 1
            try:
                check_dag(dag, BACKEND, sizes=(3,))
            except BackendError as error:
                refused[op.name] = error
    assert "expm" not in refused
    assert len(refused) < 0.02 * len(OPS) < total
    for name, error in refused.items():
        assert name in "\n".join([str(error), *getattr(error, "__notes__", ())])
    assert check_backend(BACKEND, ops=[], graphs=12, gradients=True) > 12
