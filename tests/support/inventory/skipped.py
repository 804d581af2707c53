"""Rewrites that say nothing of real arrays in a graph, and why."""

from __future__ import annotations

__all__ = ["SKIPPED"]

_SKIPPED = {
    "a power is one operation; how it is computed is the backend's": (
        "local_pow_to_nested_squaring "
    ),
    "there is one kind of array, numbers among them": (
        "local_tensor_scalar_tensor local_scalar_tensor_scalar "
    ),
    "no array is left undefined": ("local_alloc_empty_to_zeros "),
    "facts are stated and checked, not asserted inside a graph": (
        "local_remove_useless_assert local_remove_all_assert "
    ),
    "the lowering fuses": (
        "flatten_nested_add_mul FusionOptimizer local_useless_composite_outputs "
        "local_careduce_fusion local_inline_composite_constants wrap_reduced_gather_in_elemwise "
        "FuseElemwise "
    ),
    "the lowering plans buffers": (
        "InplaceGraphOptimizer InplaceElemwiseOptimizer local_inplace_setsubtensor "
        "local_inplace_AdvancedIncSubtensor local_inplace_gemm local_inplace_gemv "
        "local_inplace_ger blas_opt_inplace make_c_ger_destructive make_c_gemv_destructive "
        "InplaceBlockwiseOptimizer "
    ),
    "parts of one loop of theirs": ("local_useless_2f1grad_loop split_2f1grad_loop "),
    "unique has no fixed shape: refused when tracing": ("local_Unique_scalar local_Unique_lift "),
    "shapes are known when tracing and are no values in the graph": (
        "ShapeOptimizer UnShapeOptimizer local_useless_specify_shape "
        "local_merge_consecutive_specify_shape local_Shape_of_SpecifyShape "
        "local_lift_specify_shape_elemwise local_lift_specify_shape_inc_subtensor "
        "local_specify_shape_alloc local_Shape_i_ground local_shape_to_shape_i "
    ),
    "there is one operation, reshape": ("local_split_dims local_join_dims "),
    "a dtype of one backend": ("local_uint_constant_indices "),
    "shapes are known when tracing": ("local_subtensor_SpecifyShape_lift "),
    "calls of BLAS are the backend's": (
        "GemmOptimizer local_dot_to_dot22 local_gemm_to_gemv local_gemm_to_ger "
        "local_dot22_to_ger_or_gemv local_dot22_to_dot22scalar specialize_matmul_to_batched_dot "
        "use_c_ger use_c_gemv "
    ),
    "every operation takes leading axes as it is": (
        "local_useless_blockwise local_useless_unbatched_blockwise "
        "local_eager_useless_unbatched_blockwise "
    ),
    "singular values are sorted: no shorter without sorting": ("svd_of_diag "),
    "there is no eig of what is not symmetric": ("eig_to_eigh "),
    "eigenvalues are sorted: no shorter without sorting": ("eigh_of_diag eigvalsh_of_diag "),
    "no such operation": (
        "lu_of_diag lu_factor_of_diag schur_of_diag qz_of_diag solve_sylvester_of_diag "
    ),
    "an operation of two results: rules speak of one": ("qr_of_diag "),
    "what a loop does inside is another table's": (
        "scan_split_non_sequence_decomposition_and_solve scan_inner_graph "
        "cvm_rewrite_scan_inner_graph functional_rewrite_scan_inner_graph "
        "numba_rewrite_scan_inner_graph ScanInplaceOptimizer scan_inline_invariant_constants "
        "scan_merge_duplicate_inputs scan_remove_unused ScanMerge scan_merge_inouts "
        "scan_push_out_non_seq scan_push_out_seq scan_push_out_add scan_push_out_dot1 "
        "scan_reduce_nsteps scan_reduce_trace_prealloc scan_reduce_trace_no_prealloc "
        "scan_sit_sot_to_untraced "
    ),
    "a need of one backend": (
        "reuse_decomposition_multiple_solves_jax "
        "scan_split_non_sequence_decomposition_and_solve_jax jax_bilinear_lyapunov_to_direct "
        "introduce_explicit_core_shape_blockwise boolean_indexing_set_or_inc boolean_indexing_sum "
        "shape_parameter_as_tuple "
    ),
    "facts stand on inputs, not in the graph": ("DrainSpecifyAssumptions "),
    "functions are traced through": (
        "late_inline_OpFromGraph inline_symbolic_for_fusion inline_ofg_expansion "
    ),
    "bodies of loops are simplified by the same call; there are no other graphs inside": (
        "c_rewrite_optimize_inner_graph jit_rewrite_optimize_inner_graph optimize_inner_graph "
        "remove_constants_and_duplicate_inputs_scipy ofg_inner_graph "
        "destructive_rewrite_ofg_inner_graph functional_rewrite_ofg_inner_graph "
    ),
    "no random numbers in a graph": (
        "random_make_inplace local_rv_size_lift local_dimshuffle_rv_lift local_subtensor_rv_lift "
        "sidestep_unused_rng_consumer size_parameter_as_tuple lognormal_from_normal "
        "halfnormal_from_normal geometric_from_uniform negative_binomial_from_gamma_poisson "
        "inverse_gamma_from_gamma generalized_gamma_from_gamma wald_from_normal_uniform "
        "beta_binomial_from_beta_binomial materialize_implicit_arange_choice_without_replacement "
        "introduce_explicit_core_shape_rv cast_rv_float_params_to_float64 "
    ),
    "in place, or an experiment": ("cond_make_inplace cond_merge_random_op "),
    "no sparse arrays": (
        "local_csm_properties_csm local_inplace_remove0 local_inplace_addsd_ccode "
        "local_dense_from_sparse_sparse_from_dense local_addsd_ccode local_structured_dot "
        "local_usmm local_usmm_csc_dense_inplace local_usmm_csx local_csm_grad_c local_mul_s_d "
        "local_mul_s_v local_structured_add_s_v local_sampling_dot_csr "
    ),
    "no named axes; dimensions may have names": (
        "useless_tensor_from_xtensor useless_xtensor_from_tensor "
        "useless_tensor_from_xtensor_of_rename useless_rename useless_rng_to_xrng "
        "useless_xrng_to_rng lower_index lower_index_update lower_dot lower_reduce "
        "lower_cumreduce lower_stack lower_unstack lower_concat lower_transpose lower_squeeze "
        "lower_expand_dims lower_broadcast lower_elemwise lower_blockwise lower_rv "
    ),
    "the engine's own: driver, log, merging by construction": (
        "MergeOptimizer SequentialGraphRewriter EquilibriumGraphRewriter WalkingGraphRewriter "
        "SequentialNodeRewriter SubstitutionNodeRewriter PatternNodeRewriter KanrenRelationSub "
        "CheckStackTraceRewriter AddDestroyHandler AddFeatureOptimizer PrintCurrentFunctionGraph "
    ),
}

SKIPPED: dict[str, str] = {
    name: reason for reason, names in _SKIPPED.items() for name in names.split()
}
"""Why, by name."""
