"""The lists of known operations in the documentation are the tables."""

from __future__ import annotations

import re
from pathlib import Path

from symgraph.frontends.jax import control
from symgraph.frontends.jax import table as jax
from symgraph.frontends.onnx import model  # fills the table
from symgraph.frontends.onnx.registry import supported
from symgraph.frontends.torch import table as torch

TEXT = (Path(__file__).parents[3] / "docs" / "frontends.md").read_text(encoding="utf-8")


def listed(engine: str) -> set[str]:
    """The names in the lists of an engine's part."""
    part = TEXT.split(f"\n## {engine}\n")[1].split("\n## ")[0]
    lists = [each for each in part.split("\n### ")[1:] if not each.startswith("Modules")]
    return {name for each in lists for name in re.findall(r"`([^`]+)`", each)}


def test_operations_of_pytorch() -> None:
    assert listed("PyTorch") == set(torch.TABLE)


def test_primitives_of_jax() -> None:
    assert listed("JAX") == {*jax.TABLE, *control.CONTROL}


def test_operators_of_onnx() -> None:
    assert model.Options().parameters == "constants"
    assert listed("ONNX") == set(supported())
