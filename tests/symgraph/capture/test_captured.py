"""What a function reads besides its arguments is noticed when it changes."""

from __future__ import annotations

import importlib
import operator
import sys
import sysconfig
import types
from array import array
from collections.abc import Callable
from functools import cached_property, lru_cache, partial, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sympy
from sklearn.preprocessing import StandardScaler

import symgraph as sg
from symgraph.capture.captured import captured
from symgraph.capture.fingerprints import WHOLE, content_of
from symgraph.capture.foreign import is_installed

W = np.array([1.0, 2.0])
SCALE = 2.0
DATA = np.array([1.0, 3.0])
TABLE: dict[str, Any] = {"rate": 1.0}


def scaled(w):
    return np.sum(SCALE * w**2)


def weighted(w):
    return np.sum(DATA * w**2)


def by_helper(w):
    return scaled(w) + TABLE["rate"] * np.sum(w)


class Model:
    offset = 1.0

    def __init__(self, X: Any) -> None:
        self.X = X
        self.inner = SimpleNamespace(lam=1.0)
        self.calls = 0
        self.seen: list[Any] = []

    @property
    def doubled(self) -> Any:
        return 2 * self.X

    def loss(self, w):
        self.calls += 1
        self.seen.append(1)
        return self.penalty(w) + np.sum((self.X @ w) ** 2)

    def penalty(self, w):
        return self.inner.lam * np.sum(w**2)

    def by_property(self, w):
        return np.sum(self.doubled @ w)

    def of_class(self, w):
        return self.offset * np.sum(w)


def test_an_attribute_that_holds_another_batch_is_noticed() -> None:
    # users.md, "Silent differences", 2: the first batch's gradient came back.
    model = Model(np.eye(2))
    g = sg.grad(model.loss)
    np.testing.assert_allclose(g(W), 4 * W)
    model.X = 3 * np.eye(2)
    np.testing.assert_allclose(g(W), 20 * W)
    model.inner.lam = 0.0
    np.testing.assert_allclose(g(W), 18 * W)
    assert g.cache_info().misses == 3


def test_what_does_not_change_is_not_traced_again() -> None:
    model = Model(np.eye(2))
    g = sg.grad(model.loss)
    for _ in range(5):
        g(W)
        model.loss(W)  # Counts its calls and keeps a list: neither is read.
        model.X = np.eye(2)  # Equal numbers in another array.
        model.unrelated = object()
    assert g.cache_info() == (4, 1, 64, 1)


def test_arrays_changed_in_place_and_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    g = sg.value_and_grad(weighted)
    module = sys.modules[__name__]
    monkeypatch.setattr(module, "DATA", np.array([1.0, 3.0]))
    np.testing.assert_allclose(g(W)[1], [2.0, 12.0])
    DATA[1] = 5.0
    np.testing.assert_allclose(g(W)[1], [2.0, 20.0])
    monkeypatch.setattr(module, "DATA", np.array([2.0, 2.0]))
    np.testing.assert_allclose(g(W)[1], 4 * W)
    assert g.cache_info().misses == 3


def test_functions_called_by_the_function_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    g = sg.grad(by_helper)
    module = sys.modules[__name__]
    np.testing.assert_allclose(g(W), 4 * W + 1)
    monkeypatch.setattr(module, "SCALE", 3.0)
    np.testing.assert_allclose(g(W), 6 * W + 1)
    monkeypatch.setitem(TABLE, "rate", 2.0)
    np.testing.assert_allclose(g(W), 6 * W + 2)
    monkeypatch.setattr(module, "scaled", lambda w: np.sum(w))
    np.testing.assert_allclose(g(W), np.full(2, 3.0))


def test_enclosed_variables_that_are_bound_again() -> None:
    k = 1.0

    def f(w):
        return k * np.sum(w)

    g = sg.grad(f)
    assert g(3.0) == 1.0
    k = 5.0
    assert g(3.0) == 5.0
    k = 5.0 + 0.0  # An equal number.
    assert g(3.0) == 5.0
    assert g.cache_info().misses == 2


def test_defaults_partial_arguments_properties_and_class_attributes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def with_default(w, X=np.ones(2), *, deep={"k": 1.0}):  # noqa: B006, B008  # changed on purpose
        return deep["k"] * np.sum(X * w)

    g = sg.grad(with_default)
    np.testing.assert_allclose(g(W), [1, 1])
    assert with_default.__defaults__ is not None
    with_default.__defaults__[0][0] = 7.0
    np.testing.assert_allclose(g(W), [7, 1])
    assert with_default.__kwdefaults__ is not None
    with_default.__kwdefaults__["deep"]["k"] = 2.0
    np.testing.assert_allclose(g(W), [14, 2])

    array = np.ones(2)
    h = sg.grad(partial(lambda X, w: np.sum(X * w), array))
    np.testing.assert_allclose(h(W), [1, 1])
    array[:] = 4.0
    np.testing.assert_allclose(h(W), [4, 4])

    model = Model(np.eye(2))
    by_property, of_class = sg.grad(model.by_property), sg.grad(model.of_class)
    np.testing.assert_allclose(by_property(W), [2, 2])
    np.testing.assert_allclose(of_class(W), [1, 1])
    model.X = 2 * np.eye(2)
    monkeypatch.setattr(Model, "offset", 9.0)
    np.testing.assert_allclose(by_property(W), [4, 4])
    np.testing.assert_allclose(of_class(W), [9, 9])
    model.offset = 3.0
    np.testing.assert_allclose(of_class(W), [3, 3])


def test_attributes_of_an_argument_that_is_static() -> None:
    def loss(w, model):
        return model.inner.lam * np.sum(model.X @ w)

    model = Model(np.eye(2))
    g = sg.grad(loss)
    np.testing.assert_allclose(g(W, model), [1, 1])
    model.X = 2 * np.eye(2)
    np.testing.assert_allclose(g(W, model), [2, 2])
    model.inner = SimpleNamespace(lam=4.0)
    np.testing.assert_allclose(g(W, model), [8, 8])


def test_what_decorators_supers_slots_and_modules_hold() -> None:
    def loud(f):
        @wraps(f)
        def inner(*args, **kwargs):
            return f(*args, **kwargs)

        return inner

    class Base:
        __slots__ = ("k",)

        def loss(self, w):
            return self.k * np.sum(w)

    class Derived(Base):
        @loud
        def loss(self, w):
            return super().loss(w)

    class Lazy:
        def __init__(self) -> None:
            self.k = 1.0

        @cached_property
        def twice(self):
            return 2 * self.k

        def loss(self, w):
            return self.twice * np.sum(w)

    @lru_cache
    def rate():
        return settings.rate

    settings = types.ModuleType("settings")
    settings.rate = 1.0
    derived, lazy = Derived(), Lazy()
    derived.k = 1.0
    of_derived, of_lazy = sg.grad(derived.loss), sg.grad(lazy.loss)
    of_module = sg.grad(lambda w: rate() * np.sum(w))
    assert (of_derived(3.0), of_lazy(3.0), of_module(3.0)) == (1.0, 2.0, 1.0)
    derived.k = lazy.twice = settings.rate = 7.0
    rate.cache_clear()
    assert (of_derived(3.0), of_lazy(3.0), of_module(3.0)) == (7.0, 7.0, 7.0)


def test_transforms_of_transforms_and_rules_of_derivatives_are_followed() -> None:
    box = SimpleNamespace(k=1.0)
    twice = sg.grad(sg.grad(lambda x: box.k * x**2))
    assert twice(1.0) == 2.0
    box.k = 3.0
    assert twice(1.0) == 6.0

    @sg.custom_vjp
    def f(x):
        return x * 1.0

    @f.backward
    def _(ct, out, x):
        return ct * box.k

    g = sg.grad(lambda x: f(x))
    assert g(1.0) == 3.0
    box.k = 5.0
    assert g(1.0) == 5.0


def test_a_method_of_a_transform_is_followed_to_its_function() -> None:
    box = SimpleNamespace(k=1.0)
    g = sg.grad(sg.grad(lambda x: box.k * x**2).__call__)
    assert g(1.0) == 2.0
    box.k = 3.0
    assert g(1.0) == 6.0


@pytest.mark.parametrize("size", [10, WHOLE // 8, WHOLE], ids=["small", "whole", "large"])
def test_another_batch_in_the_same_memory_is_noticed_whatever_its_size(size: int) -> None:
    data = np.ones(size)
    g = sg.grad(lambda w: w * np.sum(data))
    assert g(1.0) == size
    data[:] = 2.0
    assert g(1.0) == 2 * size
    data[size // 3] = 7.0
    assert g(1.0) == 2 * size + 5


def test_edges_of_values() -> None:
    box = SimpleNamespace(k=np.nan, x=np.float32(1), empty=np.zeros((0, 2)), zero=0.0, items=[1, 2])

    def f(w):
        parts = sum(box.items) * w + np.sum(box.empty) + box.zero * w
        return parts * (1.0 if np.isnan(box.k) else box.k) * box.x

    g = sg.grad(f)
    assert g(1.0) == 3.0
    box.k = float("nan")
    box.x = np.float32(1)
    box.empty = np.zeros((0, 2))
    assert g(1.0) == 3.0
    assert g.cache_info().misses == 1
    box.zero = -0.0
    g(1.0)
    assert g.cache_info().misses == 2
    box.items.append(4)
    assert g(1.0) == 7.0
    box.k = 1
    assert g(1.0) == 7.0
    box.k = 1.0  # Another type is another promotion.
    assert g(1.0) == 7.0
    assert g.cache_info().misses == 5


@pytest.mark.parametrize("kind", [bytearray, partial(array, "B")])
def test_python_s_own_arrays(kind: Any) -> None:
    numbers = kind(b"\x01\x02")
    g = sg.grad(lambda w: w * numbers[1])
    assert g(1.0) == 2.0
    numbers[1] = 5
    assert g(1.0) == 5.0
    numbers.append(3)  # No memory is held that would keep it from growing.
    assert g(1.0) == 5.0


def test_containers_that_hold_themselves_end() -> None:
    ring: list[Any] = [1.0]
    ring.append(ring)
    assert sg.grad(lambda w: w * ring[0])(1.0) == 1.0


def test_a_function_that_captures_nothing_has_little_to_watch() -> None:
    found = captured([("f", lambda w: np.sum(w * w))])
    assert list(found.values) == ["f"]
    assert found.unchanged()


def test_captured_state_that_keeps_changing_warns_at_the_third_retrace() -> None:
    model = Model(np.eye(2))
    g = sg.grad(model.loss)
    for scale in (1.0, 2.0, 3.0):
        model.X = scale * np.eye(2)
        g(W)
    model.X = 4.0 * np.eye(2)
    with pytest.warns(sg.RetraceWarning, match=r"whenever self\.X changes.*Make it an argument"):
        g(W)
    model.X = 5.0 * np.eye(2)
    np.testing.assert_allclose(g(W), 52 * W)  # Told once.


def test_cache_clear_forgets_what_cannot_be_seen_to_change() -> None:
    class Opaque:
        def __getattr__(self, name: str) -> Any:
            return store[0]

    store = [1.0]
    hidden = iter(())  # Nothing can be seen through.
    del hidden
    g = sg.grad(lambda w: w * getattr(Opaque(), "a" + "b"))
    assert g(1.0) == 1.0
    g.cache_clear()
    store[0] = 2.0
    assert g(1.0) == 2.0


def test_modules_imported_inside_and_globals_by_their_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = types.ModuleType("frozen_settings")
    settings.rate, settings.other = 1.0, 2.0
    monkeypatch.setitem(sys.modules, "frozen_settings", settings)

    def f(w):
        import frozen_settings
        from frozen_settings import other

        return frozen_settings.rate * w + other * w * globals()["SCALE"]

    g = sg.grad(f)
    assert g(1.0) == 5.0
    settings.rate = 3.0
    assert g(1.0) == 7.0
    settings.other = 1.0
    assert g(1.0) == 5.0
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 10.0)
    assert g(1.0) == 13.0


def nested(rng: np.random.Generator, depth: int) -> Any:
    """Containers, objects, arrays and numbers in one another."""
    kind = rng.integers(0, 5 if depth else 2)
    if kind == 0:
        return float(rng.integers(0, 3))
    if kind == 1:
        return rng.integers(0, 3, rng.integers(1, 4)).astype(float)
    parts = [nested(rng, depth - 1) for _ in range(rng.integers(1, 4))]
    if kind == 2:
        return parts
    named = dict(zip("abc", parts, strict=False))
    return named if kind == 3 else SimpleNamespace(**named)


def places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Each owner of something that can be changed, and the name there."""
    if isinstance(value, np.ndarray):
        found.append((value, 0))
        return found
    inside = value if isinstance(value, (dict, list)) else getattr(value, "__dict__", None)
    if inside is not None:
        for name in inside if isinstance(inside, dict) else range(len(inside)):
            if isinstance(inside[name], float):
                found.append((inside, name))
            places(inside[name], found)
    return found


@pytest.mark.sampled(one_in=4)
@pytest.mark.parametrize("seed", range(60))
def test_any_change_of_what_is_reached_is_noticed_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    state = {"a": nested(rng, 4), "b": nested(rng, 3), "c": 1.0}

    def f(w):
        return read(state, w)

    def read(part, w):
        return w + part.a + part.b + part.c

    changeable = places(state, [])
    before = captured([("f", f)])
    assert before.unchanged()
    for owner, name in changeable:
        old = owner[name]
        owner[name] = old + 0.0  # An equal number, perhaps another object.
        assert not before.difference(captured([("f", f)]))
        owner[name] = old + 1.0
        assert not before.unchanged()
        assert before.difference(captured([("f", f)]))
        owner[name] = old
        assert not before.difference(captured([("f", f)]))


# -- large arrays ----------------------------------------------------------------------------------
LARGE = (WHOLE // 20, 25)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "by rows": lambda x: x,
    "by columns": np.asfortranarray,
    "a part": lambda x: np.concatenate([x, x], axis=1)[:, : x.shape[1]],
    "backwards": lambda x: x[::-1],
    "half": lambda x: x.astype("float16"),
    "bytes": lambda x: (100 * x).astype("int8"),
}


def _turn(x: Any, part: Any) -> None:
    x[part] *= -1


def _swap(x: Any, one: Any, other: Any) -> None:
    x[one], x[other] = x[other].copy(), x[one].copy()


CHANGES: dict[str, Callable[[Any], Any]] = {
    "the last element": lambda x: x.__setitem__((-1, -1), 3),
    "two elements exchanged": lambda x: _swap(x, (100, 3), (100, 4)),
    "two rows exchanged": lambda x: _swap(x, 100, 1000),
    "all rows in another order": lambda x: np.random.default_rng(1).shuffle(x),
    "all signs turned": lambda x: _turn(x, ...),
    "the signs of a column": lambda x: _turn(x, (..., 3)),
    "the signs of half of the rows": lambda x: _turn(x, slice(None, None, 2)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_change_of_a_large_array_is_noticed(layout: str, change: str) -> None:
    rng = np.random.default_rng(0)
    data = LAYOUTS[layout](rng.uniform(-1, 1, LARGE))
    assert data.nbytes > WHOLE
    before = content_of(data)
    assert content_of(data) == before
    CHANGES[change](data)
    assert content_of(data) != before


@pytest.mark.parametrize("seed", range(20))
def test_any_element_of_a_large_array_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = rng.standard_normal(int(rng.integers(WHOLE // 8 + 1, WHOLE // 4)))
    before, place = content_of(data), int(rng.integers(data.size))
    data[place] = np.nextafter(data[place], 9)
    assert content_of(data) != before


def test_a_number_repeated_in_memory_is_looked_at_once() -> None:
    one = np.ones(1)
    wide = np.broadcast_to(one, (10**9,))
    before = content_of(wide)
    one[0] = 2.0
    assert content_of(wide) != before


# -- names that are computed -----------------------------------------------------------------------
NAMED: dict[str, Callable[[Any, Any, str], Any]] = {
    "getattr": lambda w, box, name: w * getattr(box, name),
    "with another value": lambda w, box, name: w * getattr(box, name, 1.0),
    "a text that begins": lambda w, box, name: w * getattr(box, f"k{name[1:]}"),
    "a sum of texts": lambda w, box, name: w * getattr(box, "k" + name[1:]),
    "vars": lambda w, box, name: w * vars(box)[name],
    "__dict__": lambda w, box, name: w * box.__dict__[name],
    "attrgetter": lambda w, box, name: w * operator.attrgetter(name)(box),
    "all of them": lambda w, box, name: w * sum(map(getattr, [box], [name])),
    "a path": lambda w, box, name: w * operator.attrgetter("inner.k")(box),
}


@pytest.mark.parametrize("how", NAMED)
def test_attributes_whose_names_are_computed(how: str) -> None:
    box = SimpleNamespace(k_rate=2.0, inner=SimpleNamespace(k=2.0))
    f, name = NAMED[how], "".join(["k_", "rate"])
    g = sg.grad(lambda w: f(w, box, name))
    assert g(1.0) == 2.0
    box.k_rate = box.inner.k = 5.0
    assert g(1.0) == 5.0
    assert g(1.0) == 5.0
    assert g.cache_info() == (1, 2, 64, 1)


def test_of_a_name_that_is_written_nothing_else_is_looked_at() -> None:
    box = SimpleNamespace(k=2.0, calls=0)
    g = sg.grad(lambda w: w * getattr(box, "k", 1.0))
    for _ in range(3):
        box.calls += 1
        assert g(1.0) == 2.0
    assert g.cache_info().misses == 1


# -- what libraries keep to themselves -------------------------------------------------------------
def kept(cells: dict[str, Any], monkeypatch: pytest.MonkeyPatch, *, columns: bool) -> Any:
    """An object of an installed library: its cells are seen by its arrays alone."""
    module = types.ModuleType("cells_of_a_library")
    module.__file__ = f"{sysconfig.get_path('purelib')}/cells_of_a_library.py"
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def as_array(dtype: Any = None, copy: Any = None) -> Any:
        return np.stack(list(cells.values()))

    # Properties, which nobody follows as long as nobody names them: like a method written in C.
    holds: dict[str, Any] = {"__array__": property(lambda self: as_array), "__slots__": ()}
    if columns:
        holds |= {"columns": (), "items": property(lambda self: cells.items)}
    return type("Frame", (), {"__module__": module.__name__, **holds})()


@pytest.mark.parametrize("columns", [True, False], ids=["a frame", "a tensor"])
def test_cells_of_a_frame(columns: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {"a": np.ones(3), "b": np.zeros(3)}
    frame = kept(cells, monkeypatch, columns=columns)
    g = sg.grad(lambda w: w * np.sum(np.asarray(frame)))
    assert g(1.0) == g(1.0) == 3.0
    cells["b"][1] = 4.0
    assert g(1.0) == 7.0
    cells["a"] = np.full(3, 2.0)
    assert g(1.0) == 10.0
    assert g.cache_info() == (1, 3, 64, 1)


def test_cells_that_are_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = {"a": np.ones(3), "b": np.array(["x", 1.0, None], object)}
    frame = kept(cells, monkeypatch, columns=True)
    g = sg.grad(lambda w: w * np.asarray(frame)[1][1])
    assert g(1.0) == g(1.0) == 1.0
    cells["b"][1] = 4.0
    assert g(1.0) == 4.0


def test_a_sparse_matrix() -> None:
    matrix = scipy.sparse.eye(3).tocsr()
    g = sg.grad(lambda w: w * np.sum(matrix.toarray()))
    assert g(1.0) == g(1.0) == 3.0
    matrix.data[0] = 5.0
    assert g(1.0) == 7.0
    assert g.cache_info().misses == 2


@pytest.mark.parametrize(
    "kind", [list, lambda x: dict(enumerate(x)), lambda x: np.array(x, object)]
)
def test_any_element_of_a_large_container(kind: Any) -> None:
    numbers = kind([1.0] * 10_001)
    g = sg.grad(lambda w: w * numbers[5001])
    assert g(1.0) == g(1.0) == 1.0
    numbers[5001] = 4.0
    assert g(1.0) == 4.0


def test_an_installed_library_is_not_followed_to_its_end() -> None:
    """All that a method of scikit-learn may reach are thousands of values, and seconds."""
    scaler = StandardScaler().fit(np.arange(6.0).reshape(3, 2))

    def loss(x):
        return np.sum(scaler.transform(x) + scaler.scale_)

    found = captured([("loss", loss)])
    assert "scaler.scale_" in found.values
    assert len(found.values) < 500
    assert len(found.codes) < 100


def test_a_name_of_a_big_module_does_not_lead_through_all_of_it() -> None:
    """SymPy reads names of its modules and classes: each through all of them are 20,000 values."""
    found = captured([("loss", lambda x: x * float(sympy.cos(0.5)))])
    assert len(found.values) < 8000
    assert len(found.codes) < 2000


def test_a_setting_of_a_library_that_its_function_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the user's object, of the library's class and of its module."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "rates.py").write_text(
        "offset = 1.0\n"
        "class Settings:\n    scale = 1.0\n"
        "def rate(model):\n    return offset + Settings.scale * model.own\n"
        "def scale_of(settings):\n    return settings.scale\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    rates: Any = importlib.import_module("rates")
    model = SimpleNamespace(own=1.0)
    g = sg.grad(lambda w: w * rates.rate(model))
    assert g(1.0) == 2.0
    model.own = 3.0
    assert g(1.0) == 4.0
    rates.Settings.scale = 2.0
    assert g(1.0) == 7.0
    rates.offset = 5.0
    assert g(1.0) == 11.0
    handed = sg.grad(lambda w: w * rates.scale_of(rates.Settings))
    assert handed(1.0) == 2.0
    rates.Settings.scale = 3.0
    assert handed(1.0) == 3.0
    monkeypatch.delitem(sys.modules, "rates")


@pytest.mark.parametrize(
    ("folder", "record", "installed"),
    [
        ("user/site-packages", "", True),
        ("usr/dist-packages", "", True),
        ("layer", "frames/__init__.py,sha256=1,20\nframes/core/series.py,,\n", True),
        ("layer", "other/__init__.py,sha256=1,20\n", False),
        ("project", "", False),
    ],
)
def test_a_library_is_one_wherever_it_is_installed(
    folder: str, record: str, installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if record:
        (tmp_path / folder / "some-1.0.dist-info").mkdir(parents=True)
        (tmp_path / folder / "some-1.0.dist-info" / "RECORD").write_text(record)
    for name, file in {
        "frames": "__init__.py",
        "frames.core": "core/__init__.py",
        "frames.core.series": "core/series.py",
    }.items():
        module = types.ModuleType(name)
        module.__file__ = str(tmp_path / folder / "frames" / file)
        monkeypatch.setitem(sys.modules, name, module)
        assert is_installed(name) is installed
