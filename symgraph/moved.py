"""Modules that have moved or are gone: importing one by its former name says what to import now."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "REPLACED", "install"]

# Room of today: the modules that came to it, `former=today` where the name changed too.
_FROM_THE_TOP = {
    "namespace": "windows",
    "ir": "op traits interning immutable dag body avals dims scope cost collector weak nodes=node "
    "evaluate=interpreter propagation=fact_inference verify=invariants",
    "capture": "attributes watched foreign fingerprints randomness retraces calling captured "
    "codereads=code_reads",
    "array": "aliasing cuts advice eager arraymethods=methods inplace=in_place "
    "ufunccalls=ufunc_calls scipycalls=scipy_calls sizes=dimension_numbers",
    "autodiff.implicit": "solutions=implicit_function implicit=fixed_point "
    "conjugate=conjugate_gradients",
    "memory": "budget",
    "graph": "view history explain documents tracing loading derivation=stages",
    "transforms": "arguments objective programs counts batching transformed=transform "
    "tracedcall=traced_call vectorized=vmap",
}
_FROM_REWRITING = {
    "verification": "grading instances maker modular mutants params=random_params proofs "
    "reference samples small_maker trials=instance_trials variations verifier "
    "fitting=operand_search judged=equivalent_mutants precise=high_precision",
    "rewriting": "licences=justifications",
}
_FROM_BACKENDS = {"backends": "door=fast_entry"}
_FROM_SCIPY = {"scipy.names": "absent mirrored"}
_WITHIN_A_ROOM = {
    "ops": "derivatives=custom_vjp contraction=einsum",
    "autodiff": "products=jacobian_products",
    "passes": "logistic=logistic_quotients",
    "saturation": "program=integer_program instances=matched_instances",
    "algebra.expression": "labels=canonical_indices",
    "algebra.extraction": "sharing=common_factors slices=adjacent_slices plan=contraction_order",
    "algebra.normal_form": "instances=index_renaming",
    "algebra.regions": "simplify=region_pass",
    "export": "comparison=graph_difference mathematics=node_latex symbols=latex_names "
    "text=graph_text",
    "notation": "text=node_text",
    "page": "mathematics=mathml",
    "verification": "params=random_params symbols=sympy_functions trials=instance_trials",
    "saving": "order=node_order params=param_kinds table=node_table values=encoding",
}
_FROM_LOWERING = {
    "memory": "liveness workspace=scratch planner plans chains blocks eviction exact=exact_search "
    "remat=rematerialization",
    "lowering": "model=memory_model orders=memory_order kernelsizes=kernel_sizes",
}
_FROM_ALGEBRA = {
    "algebra.expression": "applied exps labels=canonical_indices licence powers roles scalars "
    "term heads=atoms leaves=leaf_terms",
    "algebra.normal_form": "arithmetic array_identities exponents factor_identities identities "
    "instances=index_renaming normalize products sum_identities sums settling=identity_table "
    "slots=factors recall=known_contractions",
    "algebra.rational": "polynomials quotients manyvariable=polynomial_ring",
    "algebra.lifting": "inverses logistic protocol selections forms=lifting",
    "algebra.extraction": "exponentials flat_writer plan=contraction_order "
    "sharing=common_factors slices=adjacent_slices solves sum_spellings term_writer variants "
    "extract=writer pieces=indexed_arrays gathering=repeated_sums printable=stable_exponentials "
    "spelled=cheapest world=use_counts",
    "algebra.regions": "lower_bound memory multiples simplify=region_pass vanishing "
    "echo=templates moved=multiples views=node_forms",
}


def _moved() -> Iterator[tuple[str, str]]:
    tables = {
        "": _FROM_THE_TOP,
        ".rewriting": _FROM_REWRITING,
        ".backends": _FROM_BACKENDS,
        ".scipy": _FROM_SCIPY,
        ".lowering": _FROM_LOWERING,
        ".algebra": _FROM_ALGEBRA,
    }
    for former_room, rooms in tables.items():
        for room, modules in rooms.items():
            for each in modules.split():
                former, _, today = each.partition("=")
                yield f"symgraph{former_room}.{former}", f"symgraph.{room}.{today or former}"
    for room, modules in _WITHIN_A_ROOM.items():
        for each in modules.split():
            former, _, today = each.partition("=")
            yield f"symgraph.{room}.{former}", f"symgraph.{room}.{today}"


MOVED = dict(_moved())
"""The former name of each module that has moved, and its name today."""

REPLACED = {
    f"symgraph.algebra.{each}": "symgraph.accuracy" for each in ("growth", "ranges", "steadiness")
}
"""The former name of each module that is gone, and the module that does its work today."""


class _Guide:
    """A finder that is asked last. It finds nothing, and says where a module went."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in MOVED:
            # Without `name=`, by which `from symgraph import nodes` would swallow the message.
            raise ModuleNotFoundError(f"{name} is {MOVED[name]} now.")
        if name in REPLACED:
            raise ModuleNotFoundError(f"{name} is gone: {REPLACED[name]} does its work now.")
        return None


def install() -> None:
    """Ask the guide after all other finders."""
    if not any(isinstance(each, _Guide) for each in sys.meta_path):
        sys.meta_path.append(_Guide())
