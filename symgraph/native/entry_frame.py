"""The part of small programs before they compute: one function of a process.

It looks whether inputs are as declared and in row order, and makes the arrays of results. What a
program declares stands beside its function as numbers, its layout. So a program's own machine code
is only what it computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .layouts import Laid
from .operations import DTYPES

__all__ = ["FRAME", "KINDS", "TABLE", "frame_text", "layout"]

TABLE = ("none", "array", "float", "number", "new", "frame")
"""What the table begins with: None, the types of arrays, of floats and of NumPy's float64 numbers,
NumPy's function that makes an array, the function below. Then follow the dtypes of KINDS, then
constants."""
KINDS = ("f64", "f32", "i64", "i32", "i16", "i8", "i1")
FRAME = "frame"
"""The function's name."""
_IN_ROWS = 1
"""NumPy's flag of an array in row order."""


def layout(inputs: Sequence[Laid], results: Sequence[Laid]) -> list[int]:
    """The numbers that the function reads.

    First how many inputs and results there are. Then for each input the number of its dtype, its
    rank and its lengths; for each result the place of its dtype in the table, its rank, whether
    it has strides of its own, its lengths and its strides in bytes.
    """
    found = [len(inputs), len(results)]
    for each in inputs:
        found += [DTYPES[each.kind].num, len(each.shape), *each.shape]
    for each in results:
        dtype = len(TABLE) + KINDS.index(each.kind)
        found += [dtype, len(each.shape), int(not each.in_rows), *each.shape]
        found += [step * each.itemsize for step in each.steps]
    return found


def frame_text(head: int) -> str:
    """The function, where the head of a Python object has so many bytes.

    It takes the table, the arguments and how many there are, a layout, and a place for as many
    addresses as there are inputs and results, and one more. It is true if all is well: there then
    are the tuple of results, and where the numbers of each input and result lie. Else there is
    what Python gets instead: None if the inputs do not fit, or nothing with an error set.
    """
    text = _TEXT
    for name, value in _numbers(head).items():
        text = text.replace(f"<{name}>", str(value))
    return text


def _numbers(head: int) -> Mapping[str, int]:
    """Where the fields lie of objects, arrays and dtypes, and what is looked for in them."""
    return {
        "type": head - 8, "data": head, "rank": head + 8, "lengths": head + 16,
        "dtype": head + 40, "flags": head + 48, "order": head + 10, "number": head + 12,
        "big endian": ord(">"), "in rows": _IN_ROWS, "float64": DTYPES["f64"].num,
        "value": head, **{f"{name} at": place for place, name in enumerate(TABLE)},
    }  # fmt: skip


_TEXT = """
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)

define i1 @frame(ptr %table, ptr %given, i64 %count, ptr %layout, ptr %places) nounwind {
start:
  %array_at = getelementptr ptr, ptr %table, i64 <array at>
  %array = load ptr, ptr %array_at
  %wanted = load i64, ptr %layout
  %results_at = getelementptr i64, ptr %layout, i64 1
  %results = load i64, ptr %results_at
  %first = getelementptr i64, ptr %layout, i64 2
  %as_many = icmp eq i64 %count, %wanted
  br i1 %as_many, label %inputs, label %refused

inputs:
  %n = phi i64 [ 0, %start ], [ %n_next, %found ]
  %about = phi ptr [ %first, %start ], [ %about_next, %found ]
  %has_more = icmp slt i64 %n, %count
  br i1 %has_more, label %input, label %results_start
input:
  %thing_at = getelementptr ptr, ptr %given, i64 %n
  %thing = load ptr, ptr %thing_at
  %type_at = getelementptr i8, ptr %thing, i64 <type>
  %type = load ptr, ptr %type_at
  %number = load i64, ptr %about
  %rank_at = getelementptr i64, ptr %about, i64 1
  %rank = load i64, ptr %rank_at
  %shape = getelementptr i64, ptr %about, i64 2
  %is_array = icmp eq ptr %type, %array
  br i1 %is_array, label %checked, label %single

single: ; A float64 of rank 0 may be a number of Python's or NumPy's.
  %float_at = getelementptr ptr, ptr %table, i64 <float at>
  %float = load ptr, ptr %float_at
  %numpy_at = getelementptr ptr, ptr %table, i64 <number at>
  %numpy = load ptr, ptr %numpy_at
  %is_float = icmp eq ptr %type, %float
  %is_numpy = icmp eq ptr %type, %numpy
  %is_number = or i1 %is_float, %is_numpy
  %is_double = icmp eq i64 %number, <float64>
  %is_single = icmp eq i64 %rank, 0
  %may = and i1 %is_double, %is_single
  %number_fits = and i1 %may, %is_number
  %value = getelementptr i8, ptr %thing, i64 <value>
  br i1 %number_fits, label %found, label %refused

checked: ; The dtype of a pickle is equal to NumPy's own, but not the same one.
  %dtype_at = getelementptr i8, ptr %thing, i64 <dtype>
  %dtype = load ptr, ptr %dtype_at
  %its_number_at = getelementptr i8, ptr %dtype, i64 <number>
  %its_number32 = load i32, ptr %its_number_at
  %its_number = sext i32 %its_number32 to i64
  %order_at = getelementptr i8, ptr %dtype, i64 <order>
  %order = load i8, ptr %order_at
  %its_rank_at = getelementptr i8, ptr %thing, i64 <rank>
  %its_rank32 = load i32, ptr %its_rank_at
  %its_rank = sext i32 %its_rank32 to i64
  %flags_at = getelementptr i8, ptr %thing, i64 <flags>
  %flags = load i32, ptr %flags_at
  %flag = and i32 %flags, <in rows>
  %is_kind = icmp eq i64 %its_number, %number
  %is_little = icmp ne i8 %order, <big endian>
  %has_rank = icmp eq i64 %its_rank, %rank
  %in_rows = icmp ne i32 %flag, 0
  %fits1 = and i1 %is_kind, %is_little
  %fits2 = and i1 %has_rank, %in_rows
  %fits = and i1 %fits1, %fits2
  %lengths_at = getelementptr i8, ptr %thing, i64 <lengths>
  %lengths = load ptr, ptr %lengths_at
  br i1 %fits, label %axes, label %refused
axes:
  %k = phi i64 [ 0, %checked ], [ %k_next, %axis ]
  %has_axis = icmp slt i64 %k, %rank
  br i1 %has_axis, label %axis, label %in_order
axis:
  %length_at = getelementptr i64, ptr %lengths, i64 %k
  %length = load i64, ptr %length_at
  %declared_at = getelementptr i64, ptr %shape, i64 %k
  %declared = load i64, ptr %declared_at
  %k_next = add nsw i64 %k, 1
  %as_long = icmp eq i64 %length, %declared
  br i1 %as_long, label %axes, label %refused
in_order:
  %data_at = getelementptr i8, ptr %thing, i64 <data>
  %data = load ptr, ptr %data_at
  br label %found
found:
  %numbers = phi ptr [ %data, %in_order ], [ %value, %single ]
  %n_next = add nsw i64 %n, 1
  %place = getelementptr ptr, ptr %places, i64 %n_next
  store ptr %numbers, ptr %place
  %about_next = getelementptr i64, ptr %shape, i64 %rank
  br label %inputs

results_start:
  %new_at = getelementptr ptr, ptr %table, i64 <new at>
  %new = load ptr, ptr %new_at
  %tuple = call ptr @PyTuple_New(i64 %results)
  store ptr %tuple, ptr %places
  %has_tuple = icmp ne ptr %tuple, null
  br i1 %has_tuple, label %outputs, label %failed
outputs:
  %r = phi i64 [ 0, %results_start ], [ %r_next, %made ]
  %out = phi ptr [ %about, %results_start ], [ %out_next, %made ]
  %has_result = icmp slt i64 %r, %results
  br i1 %has_result, label %output, label %ready
output:
  %kind = load i64, ptr %out
  %kind_at = getelementptr ptr, ptr %table, i64 %kind
  %out_dtype = load ptr, ptr %kind_at
  %out_rank_at = getelementptr i64, ptr %out, i64 1
  %out_rank = load i64, ptr %out_rank_at
  %out_rank32 = trunc i64 %out_rank to i32
  %strided_at = getelementptr i64, ptr %out, i64 2
  %strided = load i64, ptr %strided_at
  %out_shape = getelementptr i64, ptr %out, i64 3
  %own_strides = getelementptr i64, ptr %out_shape, i64 %out_rank
  %has_strides = icmp ne i64 %strided, 0
  %strides = select i1 %has_strides, ptr %own_strides, ptr null
  call void @Py_IncRef(ptr %out_dtype) ; The call below takes a reference.
  %result = call ptr %new(ptr %array, ptr %out_dtype, i32 %out_rank32, ptr %out_shape,
    ptr %strides, ptr null, i32 0, ptr null)
  %is_made = icmp ne ptr %result, null
  br i1 %is_made, label %made, label %dropped
made:
  %set = call i32 @PyTuple_SetItem(ptr %tuple, i64 %r, ptr %result)
  %result_data_at = getelementptr i8, ptr %result, i64 <data>
  %result_data = load ptr, ptr %result_data_at
  %r_next = add nsw i64 %r, 1
  %so_far = add nsw i64 %count, %r_next
  %result_place = getelementptr ptr, ptr %places, i64 %so_far
  store ptr %result_data, ptr %result_place
  %out_next = getelementptr i64, ptr %own_strides, i64 %out_rank
  br label %outputs
ready:
  ret i1 true

refused:
  %none = load ptr, ptr %table
  call void @Py_IncRef(ptr %none)
  store ptr %none, ptr %places
  ret i1 false
dropped:
  call void @Py_DecRef(ptr %tuple)
  store ptr null, ptr %places
  br label %failed
failed:
  ret i1 false
}
"""
