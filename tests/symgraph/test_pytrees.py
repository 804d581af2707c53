"""Containers come back as they were, and structures compare by value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from symgraph.pytrees import LEAF, flatten, leaf_paths, tree_map, unflatten


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Layer:
    weights: Any
    bias: Any


TREES: list[tuple[Any, list[Any]]] = [
    (3, [3]),
    (None, []),
    ((), []),
    ((1, [2, 3], {"b": 5, "a": 4}), [1, 2, 3, 4, 5]),
    (Pair(1, (2,)), [1, 2]),
    (Layer(weights=[1], bias=None), [1]),
    ({2: 1, "a": {"x": 0}}, [1, 0]),
]


@pytest.mark.parametrize(("value", "leaves"), TREES, ids=repr)
def test_round_trip(value: Any, leaves: list[Any]) -> None:
    found, tree = flatten(value)
    assert found == leaves
    back = unflatten(tree, found)
    assert back == value
    assert type(back) is type(value)
    assert hash(tree) == hash(flatten(value)[1])
    assert len(leaf_paths(tree)) == len(leaves)


def test_order_of_insertion_is_kept_but_does_not_matter() -> None:
    one, other = flatten({"b": 1, "a": 2}), flatten({"a": 2, "b": 1})
    assert one == other
    assert list(unflatten(one[1], one[0])) == ["b", "a"]


def test_structures_differ() -> None:
    assert flatten((1, 2))[1] != flatten([1, 2])[1]
    assert flatten(Pair(1, 2))[1] != flatten((1, 2))[1]
    with pytest.raises(ValueError, match="structures differ"):
        tree_map(lambda x, y: x + y, {"a": 1}, {"b": 1})


def test_paths_and_text() -> None:
    _, tree = flatten({"layers": [Layer(1, 2)], "rate": 3.0})
    assert leaf_paths(tree, "params") == [
        "params['layers'][0].weights",
        "params['layers'][0].bias",
        "params['rate']",
    ]
    assert str(tree) == "{'layers': [Layer(weights=*, bias=*)], 'rate': *}"
    assert str(LEAF) == "*"


def test_map() -> None:
    assert tree_map(lambda x, y: x * y, [2, {"a": 3}], [5, {"a": 7}]) == [10, {"a": 21}]
