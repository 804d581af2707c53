"""Writes at an index."""

from __future__ import annotations

import numpy as np

import symgraph.numpy as snp

from . import reached, refused

SPREAD = np.array([0, 2, 3])
TWICE = np.array([0, 2, 2])

WRITES = [
    reached(
        "local_useless_inc_subtensor",
        "all is overwritten",
        lambda x, y: snp.index_update(x, slice(None), y),
        lambda x, y: y,
        "exact",
        x=3,
        y=3,
    ),
    reached(
        "local_useless_inc_subtensor",
        "added everywhere",
        lambda x, y: snp.index_add(x, slice(None), y),
        lambda x, y: x + y,
        x=3,
        y=3,
    ),
    reached(
        "local_set_to_inc_subtensor",
        "to write what was there and more is to add",
        lambda x, y: snp.index_update(x, SPREAD, x[SPREAD] + y),
        lambda x, y: snp.index_add(x, SPREAD, y),
        x=4,
        y=3,
    ),
    reached(
        "local_set_to_inc_subtensor",
        "the same in a slice",
        lambda x, y: snp.index_update(x, slice(1, 3), x[1:3] + y),
        lambda x, y: snp.index_add(x, slice(1, 3), y),
        x=4,
        y=2,
    ),
    reached(
        "local_add_of_sparse_write",
        "an array plus what was added to zeros",
        lambda x, y: x + snp.index_add(snp.zeros(4), TWICE, y),
        lambda x, y: snp.index_add(x, TWICE, y),
        x=4,
        y=3,
    ),
    reached(
        "local_IncSubtensor_serialize",
        "a sum of several writes to zeros",
        lambda x, y: (
            snp.index_add(snp.zeros(4), slice(0, 2), x)
            + snp.index_add(snp.zeros(4), slice(2, 4), y)
        ),
        lambda x, y: np.concatenate([x, y]),
        x=2,
        y=2,
    ),
    reached(
        "local_incsubtensor_of_zeros",
        "zeros added",
        lambda x: snp.index_add(x, SPREAD, snp.zeros(3)),
        lambda x: x,
        x=4,
    ),
    reached(
        "local_incsubtensor_of_zeros_to_setsubtensor",
        "added to zeros at places that differ, read back",
        lambda y: snp.index_add(snp.zeros(4), SPREAD, y)[SPREAD],
        lambda y: y,
        y=3,
    ),
    reached(
        "local_setsubtensor_of_constants",
        "the number that is there already",
        lambda y: snp.index_update(snp.zeros(4), slice(1, 3), 0.0) + y,
        lambda y: y,
        y=4,
    ),
    reached(
        "local_read_of_write_same_indices",
        "what was written is read",
        lambda x, y: snp.index_update(x, SPREAD, y)[SPREAD],
        lambda x, y: y,
        x=4,
        y=3,
    ),
    reached(
        "local_read_of_write_same_indices",
        "what was written in a slice is read",
        lambda x, y: snp.index_update(x, slice(1, 3), y)[1:3],
        lambda x, y: y,
        "exact",
        x=4,
        y=2,
    ),
    reached(
        "local_read_of_write_same_indices",
        "what was added is read",
        lambda x, y: snp.index_add(x, SPREAD, y)[SPREAD],
        lambda x, y: x[SPREAD] + y,
        x=4,
        y=3,
    ),
    reached(
        "local_read_of_write_same_indices",
        "what was added in a slice is read",
        lambda x, y: snp.index_add(x, slice(1, 3), y)[1:3],
        lambda x, y: x[1:3] + y,
        x=4,
        y=2,
    ),
    reached(
        "local_slice_read_of_write",
        "a read beside what was written",
        lambda x, y: snp.index_update(x, slice(1, 3), y)[3:],
        lambda x, y: x[3:],
        "exact",
        x=6,
        y=2,
    ),
    reached(
        "local_slice_read_of_write",
        "a read inside what was written",
        lambda x, y: snp.index_update(x, slice(1, 5), y)[2:4],
        lambda x, y: y[1:3],
        "exact",
        x=6,
        y=4,
    ),
    reached(
        "local_slice_read_of_write",
        "one element of what was written",
        lambda x, y: snp.index_update(x, 2, y)[2],
        lambda x, y: y,
        "exact",
        x=6,
        y=(),
    ),
    reached(
        "local_slice_read_of_write",
        "one element beside what was written",
        lambda x, y: snp.index_update(x, 2, y)[3],
        lambda x, y: x[3],
        "exact",
        x=6,
        y=(),
    ),
    reached(
        "local_advanced_read_of_write_constant_indices",
        "places that were written, in another order",
        lambda x, y: snp.index_update(x, SPREAD, y)[np.array([2, 0])],
        lambda x, y: y[1::-1],
        x=4,
        y=3,
    ),
    reached(
        "local_advanced_read_of_write_constant_indices",
        "places beside those that were written",
        lambda x, y: snp.index_update(x, SPREAD, y)[np.array([1, 4])],
        lambda x, y: x[1::3],
        x=6,
        y=3,
    ),
    reached(
        "local_write_of_write_same_indices",
        "the last of two writes counts",
        lambda x, y, z: snp.index_update(snp.index_update(x, SPREAD, y), SPREAD, z),
        lambda x, y, z: snp.index_update(x, SPREAD, z),
        "exact",
        x=4,
        y=3,
        z=3,
    ),
    reached(
        "local_write_of_write_same_indices",
        "the last of two writes to a slice counts",
        lambda x, y, z: snp.index_update(snp.index_update(x, slice(1, 3), y), slice(1, 3), z),
        lambda x, y, z: snp.index_update(x, slice(1, 3), z),
        "exact",
        x=4,
        y=2,
        z=2,
    ),
    reached(
        "local_write_of_write_same_indices",
        "added twice at the same places",
        lambda x, y, z: snp.index_add(snp.index_add(x, TWICE, y), TWICE, z),
        lambda x, y, z: snp.index_add(x, TWICE, y + z),
        x=4,
        y=3,
        z=3,
    ),
    reached(
        "local_useless_inc_subtensor_alloc",
        "what is written is repeated by the write",
        lambda x, y: snp.index_update(x, slice(1, 3), snp.broadcast_to(y, (2,))),
        lambda x, y: snp.index_update(x, slice(1, 3), y),
        "exact",
        x=4,
        y=(),
    ),
    reached(
        "local_blockwise_inc_subtensor",
        "written in each of a batch",
        lambda x, y: snp.index_update(x, (slice(None), 1), y),
        lambda x, y: snp.index_update(x, (slice(None), 1), y),
        "exact",
        x=(2, 3),
        y=2,
    ),
]

REFUSED = [
    refused(
        "local_set_to_inc_subtensor",
        "at a place met twice the last write counts, all additions do",
        lambda x: snp.index_update(x, TWICE, x[TWICE] + 1.0),
        lambda x: snp.index_add(x, TWICE, snp.ones(3)),
        x=[1.0, 2.0, 3.0, 4.0],
    ),
    refused(
        "local_read_of_write_same_indices",
        "at a place met twice both additions are read",
        lambda x: snp.index_add(x, TWICE, snp.ones(3))[TWICE],
        lambda x: x[TWICE] + 1.0,
        x=[1.0, 2.0, 3.0, 4.0],
    ),
    refused(
        "local_read_of_write_same_indices",
        "at a place met twice the last write is read",
        lambda x, y: snp.index_update(x, TWICE, y)[TWICE],
        lambda x, y: y,
        x=[1.0, 2.0, 3.0, 4.0],
        y=[5.0, 6.0, 7.0],
    ),
    refused(
        "local_incsubtensor_of_zeros_to_setsubtensor",
        "at a place met twice additions add up",
        lambda y: snp.index_add(snp.zeros(4), TWICE, y),
        lambda y: snp.index_update(snp.zeros(4), TWICE, y),
        y=[5.0, 6.0, 7.0],
    ),
    refused(
        "local_add_of_sparse_write",
        "the sum has more axes than the write",
        lambda x, y: x + snp.index_add(snp.zeros((2, 4)), (0, slice(None)), y),
        lambda x, y: snp.broadcast_to(snp.index_add(x, slice(None), y), (2, 4)),
        x=[1.0, 2.0, 3.0, 4.0],
        y=[5.0, 6.0, 7.0, 8.0],
    ),
]

ROWS = [*WRITES]
