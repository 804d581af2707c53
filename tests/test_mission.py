"""The rows of the mission, each with the tests that show it; every one of those names its row.

GBC is chapter 6.5 of *Deep Learning* (Goodfellow, Bengio and Courville), whose numbers of figures
and algorithms the titles use.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent

ROWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "M01": (
        "The four graphs of figure 6.8",
        (
            "test_mission_graphs.py::test_m01_a_a_product",
            "test_mission_graphs.py::test_m01_b_logistic_regression",
            "test_mission_graphs.py::test_m01_c_a_relu_layer_on_a_minibatch",
            "test_mission_graphs.py::test_m01_d_linear_regression_that_uses_its_weights_twice",
        ),
    ),
    "M02": (
        "A variable knows its operation, inputs and consumers, on a networkx DAG",
        (
            "symgraph/graph/test_graph.py::test_m02_a_variable_knows_operation_inputs_and_consumers",
            "test_mission_graphs.py::test_m02_operation_inputs_and_consumers_of_every_variable",
            "test_mission_graphs.py::test_m02_networkx_runs_on_it",
        ),
    ),
    "M03": (
        "Scalars to tensors, dimensions fixed or named, NumPy's promotion",
        (
            "symgraph/graph/test_graph.py::test_m03_named_dimensions_and_numpys_promotion",
            "test_mission_graphs.py::test_m03_scalars_to_tensors",
            "test_mission_graphs.py::test_m03_a_name_stands_for_one_size",
            "test_mission_graphs.py::test_m03_two_dtypes_are_promoted_as_numpy_promotes_them",
            "test_mission_graphs.py::test_m03_a_python_number_is_weak",
            "test_mission_graphs.py::test_m03_integers_and_booleans_flow_beside_floats",
        ),
    ),
    "M04": (
        "Operations with several outputs",
        (
            "symgraph/graph/test_graph.py::test_m04_maximum_with_its_index_in_one_pass",
            "symgraph/ops/test_linalg.py::test_m04_one_computation_gives_all_results_and_serves_their_gradients",
            "test_mission_control.py::test_m04_several_results_are_one_computation",
        ),
    ),
    "M05": (
        "Merge and branch in any DAG",
        ("test_mission_control.py::test_m05_merge_and_branch_in_any_dag",),
    ),
    "M06": (
        "Weight tying: the gradient of a shared parameter is the sum over its uses",
        (
            "symgraph/autodiff/test_reverse.py::test_m06_x_times_x_gives_2x",
            "test_mission_control.py::test_m06_a_shared_parameter_sums_over_its_uses",
        ),
    ),
    "M07": (
        "Algorithms 6.1 and 6.2, at a cost proportional to the edges",
        (
            "symgraph/autodiff/test_reverse.py::test_m07_cost_is_linear_in_edges",
            "test_mission_derivatives.py::test_m07_the_grad_table_is_the_gradient",
            "test_mission_derivatives.py::test_m07_cost_is_the_number_of_edges_where_the_naive_way_takes_ve",
        ),
    ),
    "M08": (
        "Algorithms 6.5 and 6.6: symbol to symbol, without recursion",
        (
            "symgraph/autodiff/test_reverse.py::test_m08_only_nodes_between_target_and_output_are_visited",
            "test_mission_derivatives.py::test_m08_the_gradient_is_appended_to_the_same_dag",
            "test_mission_derivatives.py::test_m08_depth_is_bounded_by_memory_only",
        ),
    ),
    "M09": (
        "Each operation owns its derivative",
        (
            "test_mission_networks.py::test_m09_the_record_holds_the_rule",
            "test_mission_networks.py::test_m09_what_the_record_says_is_what_the_engine_uses",
            "test_mission_networks.py::test_m09_an_operation_the_engine_has_never_heard_of",
            "test_mission_networks.py::test_m09_the_engine_knows_no_differentiation_rule",
        ),
    ),
    "M10": (
        "Figure 6.9: both programs, the one that stores and the one that recomputes",
        ("test_mission_control.py::test_m10_both_programs_of_figure_6_9",),
    ),
    "M11": (
        "Algorithms 6.3 and 6.4: a network with a regulariser, layers with closed forms",
        (
            "test_mission_networks.py::test_m11_the_linear_layer",
            "test_mission_networks.py::test_m11_the_pointwise_layers",
            "test_mission_networks.py::test_m11_the_loss_layers",
            "test_mission_networks.py::test_m11_a_network_with_a_regulariser",
        ),
    ),
    "M12": (
        "The minibatch gradient is the mean of the gradients of examples",
        (
            "test_mission_derivatives.py::test_m12_the_minibatch_gradient_is_the_mean_of_the_gradients_of_examples",
        ),
    ),
    "M13": (
        "The worked network of 6.5.7, trained on real data",
        (
            "test_mission_networks.py::test_m13_the_gradient_is_that_of_the_text",
            "test_mission_networks.py::test_m13_digits_are_learnt_by_minibatch_sgd",
        ),
    ),
    "M14": (
        "Jacobians, forward mode, products in the cheapest order",
        (
            "symgraph/autodiff/test_jacobian.py::test_m14_the_mode_is_chosen_by_cost_and_can_be_forced",
            "test_mission_derivatives.py::test_m14_jacobian_of_a_tensor_valued_output",
            "test_mission_derivatives.py::test_m14_products_are_multiplied_in_the_cheapest_order",
        ),
    ),
    "M15": (
        "Higher order: Hessian-vector products, conjugate gradients",
        (
            "symgraph/autodiff/implicit/test_conjugate_gradients.py::test_newton_steps_in_a_loop_without_a_hessian",
            "symgraph/autodiff/test_jacobian.py::test_m15_gradients_of_gradients_to_order_five",
            "symgraph/transforms/test_functions.py::test_m15_gradients_of_gradients_of_functions",
            "test_mission_derivatives.py::test_m15_the_hessian_vector_product_is_linear_in_the_graph",
            "test_mission_derivatives.py::test_m15_and_so_it_is_for_a_random_graph_of_arrays",
            "test_mission_derivatives.py::test_m15_conjugate_gradients_on_hessian_vector_products",
            "test_mission_derivatives.py::test_m15_the_hessian_column_by_column_and_in_closed_form",
            "test_mission_derivatives.py::test_m15_v_is_not_differentiated_through",
        ),
    ),
    "M16": (
        "Undefined, disconnected and zero gradients are told apart",
        (
            "symgraph/autodiff/test_reverse.py::test_m16_zero_disconnected_and_undefined_are_told_apart",
            "test_mission_control.py::test_m16_three_answers_with_their_paths",
        ),
    ),
    "M17": (
        "Custom operations with a custom derivative",
        ("test_mission_control.py::test_m17_custom_operations_with_custom_derivatives",),
    ),
    "M18": (
        "Loops, back-propagation through time, clipping",
        (
            "test_mission_control.py::test_m18_an_lstm_of_100_steps",
            "test_mission_control.py::test_m18_a_scan_of_1000_steps",
            "test_mission_control.py::test_m18_clipping_tames_an_exploding_gradient",
        ),
    ),
    "M19": (
        "Back-propagation to the data",
        (
            "symgraph/graph/test_graph.py::test_m19_gradient_of_the_data",
            "test_mission_control.py::test_m19_an_input_is_optimised_through_a_loop",
        ),
    ),
    "M20": (
        "The toy: forward and reverse accumulation side by side",
        ("test_mission_derivatives.py::test_m20_the_toy_forward_and_reverse_side_by_side",),
    ),
    "M21": (
        "Forward and backward as one bigger network",
        (
            "test_mission_graphs.py::test_m21_gradient_nodes_stand_in_the_band_of_their_forward_node",
            "test_mission_graphs.py::test_m21_forward_and_backward_are_one_network",
        ),
    ),
    "M22": (
        "Softmax cross-entropy: q - p where the sum of p is 1",
        ("test_mission_simplification.py::test_m22_the_gradient_of_cross_entropy_is_q_minus_p",),
    ),
    "M23": (
        "Patterns declared as data, verified, named in the log",
        ("test_mission_simplification.py::test_m23_patterns_are_declared_verified_and_logged",),
    ),
    "M24": (
        "Pruning: dead, double, neutral and constant",
        ("test_mission_simplification.py::test_m24_what_is_dead_double_neutral_or_constant_goes",),
    ),
    "M25": (
        "Sums of gradients accumulate into one buffer",
        ("test_mission_simplification.py::test_m25_a_sum_of_many_gradients_is_one_buffer",),
    ),
    "M26": (
        "Checkpoints: a memory budget in, recomputation out",
        ("test_mission_simplification.py::test_m26_a_memory_budget_makes_a_graph_that_recomputes",),
    ),
    "M27": (
        "Any subset of the graph is evaluated",
        ("test_mission_simplification.py::test_m27_any_subset_is_evaluated",),
    ),
    "M28": (
        "Pluggable backends, chosen by name",
        ("symgraph/backends/test_base.py::test_a_strangers_backend_enters_by_the_same_door",),
    ),
    "M29": (
        "Export for inspection",
        ("test_mission_simplification.py::test_m29_every_format_shows_the_graph",),
    ),
    "M30": (
        "Notebooks: derivation, picture and numbers",
        (
            "test_mission_simplification.py::test_m30_a_notebook_shows_derivation_picture_and_numbers",
        ),
    ),
}


@cache
def docstrings(path: str) -> dict[str, str]:
    """The docstring of each test in a file."""
    tree = ast.parse((HERE / path).read_text(encoding="utf-8"))
    return {
        node.name: ast.get_docstring(node) or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_there_is_a_row_for_each_number() -> None:
    assert list(ROWS) == [f"M{number:02}" for number in range(1, 31)]


@pytest.mark.parametrize("row", ROWS)
def test_the_row_is_shown_by_tests_that_name_it(row: str) -> None:
    _, shown = ROWS[row]
    assert shown
    for each in shown:
        path, _, name = each.partition("::")
        assert name in docstrings(path), f"{each} is gone"
        assert row in re.findall(r"\bM\d\d\b", docstrings(path)[name]), f"{each} shows another row"


@cache
def notebooks() -> dict[str, dict[str, Any]]:
    """The notebooks by name, in order."""
    paths = sorted((HERE.parent / "notebooks").glob("*.ipynb"))
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


@pytest.mark.parametrize("row", ROWS)
def test_a_notebook_shows_the_row(row: str) -> None:
    texts = [
        "".join(cell["source"])
        for notebook in notebooks().values()
        for cell in notebook["cells"]
        if cell["cell_type"] == "markdown"
    ]
    assert any(row in re.findall(r"\bM\d\d\b", text) for text in texts)


def test_notebooks_are_numbered_check_what_they_show_and_keep_no_outputs() -> None:
    assert [name[:2] for name in notebooks()] == [
        f"{number:02}" for number in range(1, 1 + len(notebooks()))
    ]
    for name, notebook in notebooks().items():
        first, *_ = notebook["cells"]
        assert "".join(first["source"]).startswith(f"# {name[:2]} · "), name
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert any("assert" in "".join(cell["source"]) for cell in code), name
        assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code), name


def test_no_test_of_a_row_is_missing() -> None:
    listed = {each for _, shown in ROWS.values() for each in shown}
    found = {
        f"{path.relative_to(HERE).as_posix()}::{name}"
        for path in HERE.rglob("test_*.py")
        if re.search(r"\bM[0-3]\d:", path.read_text(encoding="utf-8"))
        for name, text in docstrings(path.relative_to(HERE).as_posix()).items()
        if re.match(r"M[0-3]\d:", text)
    }
    assert found <= listed
