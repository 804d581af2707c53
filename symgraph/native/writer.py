"""A writer of LLVM's intermediate language for short vectors.

An operation is written once and works on a vector or on a single number, whatever `Code.width`
says. Equal operations within a block are written once. No operation has a fast-math flag, so that
NaN, infinity and -0.0 are what IEEE arithmetic makes of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from ctypes import c_float

from ..records import record

__all__ = ["BITS", "Code", "Machine", "Value", "is_float"]

BITS = {"f64": 64, "f32": 32, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i1": 1}
"""The bits of each kind of number; `i1` is a truth value, a byte in memory."""
_TEXT = {"f64": "double", "f32": "float"}


def is_float(kind: str) -> bool:
    """Whether numbers of this kind are floating."""
    return kind[0] == "f"


@record
class Machine:
    """The properties of the machine that the code depends on.

    Parameters
    ----------
    llvm : int
        LLVM's major version.
    register : int
        The bytes of a vector.
    head : int
        The bytes of the head of a Python object.
    products : bool
        Whether products of matrices are computed here, not by BLAS.
    """

    llvm: int
    register: int
    head: int
    products: bool = False


@record
class Value:
    """A name, or a number, of the intermediate language; `width` is 0 for a single number."""

    text: str
    kind: str
    width: int


class Code:
    """The instructions of one function.

    Parameters
    ----------
    llvm : int
        LLVM's major version: it decides how masked loads are written.

    Attributes
    ----------
    declared, defined : dict of str to str
        Functions that are called, and those that are written beside this one.
    outlined : bool
        Whether elementary functions are called: in a long function they would be written often.
    """

    def __init__(self, llvm: int = 20) -> None:
        self.llvm = llvm
        self.lines: list[str] = []
        self.entry: list[str] = []
        self.declared: dict[str, str] = {}
        self.defined: dict[str, str] = {}
        self.outlined = False
        self.width = 0
        self.count = 0
        self.known: dict[tuple[str, int], Value] = {}
        self.current = "start"

    # -- plumbing --------------------------------------------------------------------------------
    def name(self, letter: str = "r") -> str:
        """A new name."""
        self.count += 1
        return f"%{letter}{self.count}"

    def label(self) -> str:
        """A new label of a block."""
        self.count += 1
        return f"b{self.count}"

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def block(self, label: str) -> None:
        """Begin a block: values computed before it are not known in it."""
        self.lines.append(f"{label}:")
        self.current = label
        self.known = {}

    def loop(self, start: str, end: str, step: int | str, body: Callable[[str], None]) -> None:
        """`body` with a number that goes from `start` to below `end`."""
        head, inside, latch, after = [self.label() for _ in range(4)]
        number, following, test = self.name("i"), self.name("i"), self.name("t")
        self.line(f"br label %{head}")
        before = self.current
        self.block(head)
        self.line(f"{number} = phi i64 [ {start}, %{before} ], [ {following}, %{latch} ]")
        self.line(f"{test} = icmp slt i64 {number}, {end}")
        self.line(f"br i1 {test}, label %{inside}, label %{after}")
        self.block(inside)
        body(number)
        self.line(f"br label %{latch}")
        self.block(latch)
        self.line(f"{following} = add nsw i64 {number}, {step}")
        self.line(f"br label %{head}")
        self.block(after)

    def when(self, test: str, body: Callable[[], None]) -> None:
        """`body` where the test is true."""
        inside, after = self.label(), self.label()
        self.line(f"br i1 {test}, label %{inside}, label %{after}")
        self.block(inside)
        body()
        self.line(f"br label %{after}")
        self.block(after)

    def type_of(self, kind: str, width: int) -> str:
        """A type as text."""
        one = _TEXT.get(kind, kind)
        return f"<{width} x {one}>" if width else one

    def type(self, value: Value) -> str:
        return self.type_of(value.kind, value.width)

    def typed(self, value: Value) -> str:
        """A value with its type before it."""
        return f"{self.type(value)} {value.text}"

    def made(self, text: str, kind: str, width: int | None = None) -> Value:
        """The result of a pure instruction, written once in a block."""
        width = self.width if width is None else width
        found = self.known.get((text, width))
        if found is None:
            found = Value(self.name(), kind, width)
            self.line(f"{found.text} = {text}")
            self.known[text, width] = found
        return found

    def slot(self, kind: str, width: int, start: Value) -> str:
        """A variable of the function with its first value, which is set where this is called."""
        name = self.name("s")
        self.entry.append(f"  {name} = alloca {self.type_of(kind, width)}")
        self.line(f"store {self.typed(start)}, ptr {name}")
        return name

    def get(self, slot: str, kind: str, width: int) -> Value:
        name = self.name()
        self.line(f"{name} = load {self.type_of(kind, width)}, ptr {slot}")
        return Value(name, kind, width)

    def set(self, slot: str, value: Value) -> None:
        self.line(f"store {self.typed(value)}, ptr {slot}")

    # -- numbers ---------------------------------------------------------------------------------
    def number(self, kind: str, value: float | int, width: int | None = None) -> Value:
        """A number, in each lane."""
        width = self.width if width is None else width
        if is_float(kind):
            given = c_float(value).value if kind == "f32" else float(value)
            text = f"0x{struct.unpack('<Q', struct.pack('<d', given))[0]:016X}"
        elif kind == "i1":
            text = "true" if value else "false"
        else:
            text = str(int(value))
        return Value(f"splat ({_TEXT.get(kind, kind)} {text})" if width else text, kind, width)

    def wide(self, value: Value) -> Value:
        """A single number in each lane of a vector."""
        if value.width or not self.width:
            return value
        if value.text[:1] != "%":
            one = _TEXT.get(value.kind, value.kind)
            return Value(f"splat ({one} {value.text})", value.kind, self.width)
        vector = self.type_of(value.kind, self.width)
        first = self.made(f"insertelement {vector} poison, {self.typed(value)}, i64 0", value.kind)
        zeros = f"<{self.width} x i32> zeroinitializer"
        return self.made(
            f"shufflevector {vector} {first.text}, {vector} poison, {zeros}", value.kind
        )

    def two(self, x: Value | float, y: Value | float) -> tuple[Value, Value]:
        """Two operands of one kind and width."""
        if not isinstance(x, Value):
            assert isinstance(y, Value)
            x = self.number(y.kind, x, y.width)
        if not isinstance(y, Value):
            y = self.number(x.kind, y, x.width)
        if x.width != y.width:
            x, y = self.wide(x), self.wide(y)
        return x, y

    # -- arithmetic ------------------------------------------------------------------------------
    def _binary(self, of_float: str, of_int: str, x: Value | float, y: Value | float) -> Value:
        a, b = self.two(x, y)
        name = of_float if is_float(a.kind) else of_int
        return self.made(f"{name} {self.typed(a)}, {b.text}", a.kind, a.width)

    def add(self, x: Value | float, y: Value | float) -> Value:
        return self._binary("fadd", "add", x, y)

    def sub(self, x: Value | float, y: Value | float) -> Value:
        return self._binary("fsub", "sub", x, y)

    def mul(self, x: Value | float, y: Value | float) -> Value:
        return self._binary("fmul", "mul", x, y)

    def div(self, x: Value | float, y: Value | float) -> Value:
        return self._binary("fdiv", "sdiv", x, y)

    def bitand(self, x: Value | float, y: Value | float) -> Value:
        return self._binary("", "and", x, y)

    def bitor(self, x: Value | float, y: Value | float) -> Value:
        return self._binary("", "or", x, y)

    def bitxor(self, x: Value | float, y: Value | float) -> Value:
        return self._binary("", "xor", x, y)

    def shift_left(self, x: Value, bits: int) -> Value:
        return self._binary("", "shl", x, bits)

    def shift_right(self, x: Value, bits: int) -> Value:
        """The arithmetic shift: it keeps the sign."""
        return self._binary("", "ashr", x, bits)

    def neg(self, x: Value) -> Value:
        if is_float(x.kind):
            return self.made(f"fneg {self.typed(x)}", x.kind, x.width)
        return self.sub(0, x)

    def invert(self, x: Value) -> Value:
        return self.bitxor(x, 1 if x.kind == "i1" else -1)

    def compared(self, how: str, x: Value | float, y: Value | float) -> Value:
        """`how` is a condition of `fcmp`, or of `icmp` for integers."""
        a, b = self.two(x, y)
        name = "fcmp" if is_float(a.kind) else "icmp"
        return self.made(f"{name} {how} {self.typed(a)}, {b.text}", "i1", a.width)

    def select(self, test: Value, x: Value | float, y: Value | float) -> Value:
        """`x` where the test is true, else `y`."""
        a, b = self.two(x, y)
        if test.width != a.width:
            test, a, b = self.wide(test), self.wide(a), self.wide(b)
        return self.made(
            f"select {self.typed(test)}, {self.typed(a)}, {self.typed(b)}", a.kind, a.width
        )

    def intrinsic(self, name: str, *operands: Value) -> Value:
        """A function of LLVM of numbers of one kind, such as `sqrt`."""
        x = operands[0]
        suffix = f"v{x.width}{x.kind}" if x.width else x.kind
        full = f"llvm.{name}.{suffix}"
        kinds = ", ".join([self.type(each) for each in operands])
        self.declared[full] = f"declare {self.type(x)} @{full}({kinds})"
        given = ", ".join([self.typed(each) for each in operands])
        return self.made(f"call {self.type(x)} @{full}({given})", x.kind, x.width)

    def fma(self, x: Value, y: Value | float, z: Value | float) -> Value:
        """The product of two values plus the third, rounded once."""
        a, b = self.two(x, y)
        a, c = self.two(a, z)
        _, b = self.two(c, b)
        return self.intrinsic("fma", a, b, c)

    def fabs(self, x: Value) -> Value:
        return self.intrinsic("fabs", x)

    def bits_of(self, x: Value) -> Value:
        """The bits of a float as an integer."""
        kind = f"i{BITS[x.kind]}"
        return self.made(f"bitcast {self.typed(x)} to {self.type_of(kind, x.width)}", kind, x.width)

    def from_bits(self, x: Value) -> Value:
        """The float of these bits."""
        kind = f"f{BITS[x.kind]}"
        return self.made(f"bitcast {self.typed(x)} to {self.type_of(kind, x.width)}", kind, x.width)

    def converted(self, how: str, x: Value, kind: str) -> Value:
        """`how` is an instruction: `sext`, `fptosi`, ..."""
        target = self.type_of(kind, x.width)
        return self.made(f"{how} {self.typed(x)} to {target}", kind, x.width)

    def called(self, name: str, function: Callable[..., Value], operands: Sequence[Value]) -> Value:
        """`function` of the code and the operands, as a function that is written once."""
        given = [self.wide(each) for each in operands]
        width, kind = given[0].width, given[0].kind
        full = f"{name.replace('.', '_')}_{width}{kind}"
        kinds = ", ".join([f"{self.type(each)} %x{k}" for k, each in enumerate(given)])
        if full not in self.defined:
            inner = Code(self.llvm)
            inner.width = width
            found = function(inner, *[Value(f"%x{k}", kind, width) for k in range(len(given))])
            self.declared.update(inner.declared)
            lines = [f"define internal {self.type(found)} @{full}({kinds}) nounwind noinline {{"]
            lines += ["entry:", *inner.entry, "  br label %start", "start:", *inner.lines]
            self.defined[full] = "\n".join([*lines, f"  ret {self.typed(found)}", "}"])
        values = ", ".join([self.typed(each) for each in given])
        return self.made(f"call {self.type_of(kind, width)} @{full}({values})", kind, width)

    # -- lanes -----------------------------------------------------------------------------------
    def lane(self, x: Value, number: int) -> Value:
        return self.made(f"extractelement {self.typed(x)}, i64 {number}", x.kind, 0)

    def folded(self, x: Value, combine: Callable[[Value, Value], Value]) -> Value:
        """All lanes combined to one number, halves first."""
        while x.width > 1:
            half = x.width // 2
            parts: list[Value] = []
            for start in (0, half):
                lanes = ", ".join([f"i32 {start + k}" for k in range(half)])
                parts.append(
                    self.made(
                        f"shufflevector {self.typed(x)}, {self.type(x)} poison, "
                        f"<{half} x i32> <{lanes}>",
                        x.kind,
                        half,
                    )
                )
            x = combine(*parts)
        return self.lane(x, 0) if x.width else x

    def each_lane(self, x: Sequence[Value], function: str) -> Value:
        """An external function of single numbers, called for each lane."""
        first = x[0]
        one = _TEXT[first.kind]
        self.declared[function] = f"declare {one} @{function}({', '.join([one] * len(x))})"
        if not first.width:
            given = ", ".join([self.typed(each) for each in x])
            return self.made(f"call {one} @{function}({given})", first.kind, 0)
        vector = self.type(first)
        result = Value("poison", first.kind, first.width)
        for number in range(first.width):
            given = ", ".join([self.typed(self.lane(each, number)) for each in x])
            found = self.made(f"call {one} @{function}({given})", first.kind, 0)
            result = self.made(
                f"insertelement {vector} {result.text}, {self.typed(found)}, i64 {number}",
                first.kind,
                first.width,
            )
        return result

    # -- memory ----------------------------------------------------------------------------------
    def load(self, place: str, kind: str, mask: Value | None = None) -> Value:
        """Numbers from memory; lanes outside the mask are 1."""
        stored = "i8" if kind == "i1" else kind
        name = self.name()
        vector = self.type_of(stored, self.width)
        if mask is None:
            self.line(f"{name} = load {vector}, ptr {place}, align 1")
        else:
            full = f"llvm.masked.load.v{self.width}{stored}.p0"
            call = self._masked(full, vector, [], place, [mask, self.number(stored, 1)])
            self.line(f"{name} = {call}")
        found = Value(name, stored, self.width)
        return self.compared("ne", found, 0) if kind == "i1" else found

    def store(self, place: str, value: Value, mask: Value | None = None) -> None:
        """Numbers to memory; lanes outside the mask stay as they are there."""
        value = self.wide(value)
        if value.kind == "i1":
            value = self.converted("zext", value, "i8")
        if mask is None:
            self.line(f"store {self.typed(value)}, ptr {place}, align 1")
            return
        full = f"llvm.masked.store.v{self.width}{value.kind}.p0"
        self.line(self._masked(full, "void", [value], place, [mask]))

    def _masked(
        self, name: str, result: str, before: list[Value], place: str, after: list[Value]
    ) -> str:
        """A call that reads or writes the lanes of a mask, which follows the place in memory."""
        # Since LLVM 22 the alignment belongs to the pointer; before it was an operand.
        pointer = ["ptr"] if self.llvm >= 22 else ["ptr", "i32"]
        at = [f"ptr align 1 {place}"] if self.llvm >= 22 else [f"ptr {place}", "i32 1"]
        taken = ", ".join([*map(self.type, before), *pointer, *map(self.type, after)])
        given = ", ".join([*map(self.typed, before), *at, *map(self.typed, after)])
        self.declared[name] = f"declare {result} @{name}({taken})"
        return f"call {result} @{name}({given})"
