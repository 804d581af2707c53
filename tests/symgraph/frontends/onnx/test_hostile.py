"""Malformed and hostile models: errors of ours, in bounded time and memory, and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from onnxcases import every_case, onnx

import symgraph as sg
from symgraph.errors import SymgraphError

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(onnx is None, reason="the oracles extra is not installed"),
]

HUGE = [0, 1, -1, 2, 7, 2**31 - 1, -(2**31), 2**62, -(2**63), 10**6]
ODD = [0.0, -1.0, float("nan"), float("inf"), 1e30]


def models() -> list[bytes]:
    return [case.model.SerializeToString() for case in every_case()]


def with_changed_bytes(text: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes are others, are missing, or are more."""
    held = bytearray(text)
    for _ in range(rng.integers(1, 5)):
        place = int(rng.integers(len(held)))
        match rng.integers(4):
            case 0:
                held[place] = int(rng.integers(256))
            case 1:
                held[place] ^= 1 << int(rng.integers(8))
            case 2:
                del held[place : place + int(rng.integers(1, 9))]
            case _:
                held[place:place] = rng.bytes(int(rng.integers(1, 5)))
        held = held or bytearray(b"?")
    return bytes(held)


def leaves(message: Any) -> Iterator[tuple[Any, Any]]:
    """Each field that is set, of a message and of all inside."""
    for field, value in message.ListFields():
        yield message, field
        if field.type == field.TYPE_MESSAGE:
            many = not hasattr(value, "ListFields")
            for each in value if many else [value]:
                yield from leaves(each)


def with_changed_fields(text: bytes, rng: np.random.Generator) -> bytes:
    """A valid message whose numbers, names and lists are others."""
    model = onnx.ModelProto()
    model.ParseFromString(text)
    names = [node.output[0] for node in model.graph.node] + ["", "x", "Add", "Loop", "ai.onnx"]
    for _ in range(rng.integers(1, 4)):
        places = list(leaves(model.graph)) + list(leaves(model))
        message, field = places[rng.integers(len(places))]
        value = getattr(message, field.name)
        if hasattr(value, "append") or hasattr(value, "add"):
            if rng.integers(2) or not len(value):
                value.MergeFrom(value[:1])
            else:
                del value[int(rng.integers(len(value)))]
        elif field.type == field.TYPE_MESSAGE:
            message.ClearField(field.name)
        elif field.type == field.TYPE_STRING:
            setattr(message, field.name, str(rng.choice(names)))
        elif field.type == field.TYPE_BYTES:
            setattr(message, field.name, with_changed_bytes(value or b"?", rng))
        elif field.type == field.TYPE_FLOAT:
            setattr(message, field.name, float(rng.choice(ODD)))
        else:
            wide = field.type in (field.TYPE_INT64, field.TYPE_UINT64)
            few = [1, 2, 3] if field.enum_type is None else field.enum_type.values_by_number
            number = int(rng.choice(HUGE if wide else list(few)))
            setattr(message, field.name, abs(number) if field.type == field.TYPE_UINT64 else number)
    return model.SerializeToString()


def changed(seed: int, texts: list[bytes]) -> bytes:
    rng = np.random.default_rng(seed)
    text = texts[rng.integers(len(texts))]
    return (with_changed_bytes if seed % 2 else with_changed_fields)(text, rng)


def outcome(text: bytes, seed: int) -> str:
    """The name of the error, or `read`; any other error is raised."""
    try:
        sg.from_onnx(text, parameters="inputs" if seed % 3 else "constants")
    except SymgraphError as error:
        return type(error).__name__ if str(error) else "nothing told"
    return "read"


@pytest.mark.parametrize("start", [0])
def test_a_changed_model_gives_errors_of_ours(start: int) -> None:
    texts = models()
    found = Counter(outcome(changed(seed, texts), seed) for seed in range(start, start + 300))
    assert found["read"] > 10
    assert found["FormatError"] > 100


@pytest.mark.fuzz
@pytest.mark.parametrize("start", range(1_000, 6_000, 1_000))
def test_thousands_of_changed_models_give_errors_of_ours(start: int) -> None:
    texts = models()
    found = Counter(outcome(changed(seed, texts), seed) for seed in range(start, start + 1_000))
    assert found["read"] > 50
    assert not found["nothing told"]
