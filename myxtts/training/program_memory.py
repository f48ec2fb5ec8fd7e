"""The memory that a traced program will need at its fullest moment, before anything is compiled.

A compiler keeps in memory what it cannot fuse: the results of products, convolutions, lookups and
reductions, and the operands that products and convolutions want to see as arrays. Everything
between them (additions, activations, casts, masks) is computed on the way, as often as it is
needed, from those results, which must stay alive as long. `peak_bytes` follows a program in its
order and adds up what is alive. What follows from the weights alone, as kernels that are laid out
anew, does not count: compilers put it where the gradients of the same size are written later.

This is the arithmetic alone; what else a training step holds is `memory_estimate`'s business.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Any

import tensorflow as tf

_ALIASES = {
    "ExpandDims", "Identity", "PreventGradient", "ReadVariableOp", "Reshape", "Squeeze",
    "StopGradient",
}  # fmt: skip
"""The same array under another name or shape."""

_PRODUCTS = {
    "BatchMatMulV2", "Conv2D", "Conv2DBackpropFilter", "Conv2DBackpropInput", "Einsum", "MatMul",
}  # fmt: skip
"""Operations that read their operands as arrays, and write one."""

_IMAGES = {"Conv2D", "Conv2DBackpropFilter"}
"""Operations whose first operand is laid out anew, even where it is an array already."""

_STORED = _PRODUCTS | {
    "BiasAddGrad", "ConcatV2", "Cumsum", "GatherV2", "Max", "Mean", "StatelessWhile", "Sum",
    "TensorListFromTensor", "TensorListStack", "UnsortedSegmentSum", "While",
}  # fmt: skip
"""Operations whose results are written to memory; their operands may be computed on the way."""

_WITHOUT_BYTES = (tf.resource, tf.variant, tf.string)


class _Array:
    """A stretch of memory, alive from one operation of the program to another."""

    def __init__(self, size: int, start: int, *, of_weights: bool = False) -> None:
        self.size = size
        self.start = start
        self.end = start
        self.of_weights = of_weights
        """It is a weight, or follows from weights alone."""

    def read(self, at: int) -> None:
        self.end = max(self.end, at)


def peak_bytes(graph: Any, *, fused: bool = True) -> int:
    """The most bytes that are alive at once besides a program's arguments and its results.

    `graph` is that of a concrete function with static shapes. `fused=False` is the program as
    TensorFlow runs it without XLA: every result is stored until its last reader is done.
    """
    return _Walk(graph, fused).peak()


class _Walk:
    """One pass over a program, in the order in which its operations were traced."""

    def __init__(self, graph: Any, fused: bool) -> None:
        self._operations = graph.get_operations()
        self._fused = fused
        self._number: dict[int, Hashable] = {}  # id of a tensor -> the value it holds
        self._reads: dict[Hashable, frozenset[_Array]] = {}  # value -> arrays it is computed from
        self._array: dict[Hashable, _Array] = {}  # value -> the array it is stored in
        self._operands: dict[Hashable, _Array] = {}  # value -> its copy made for products
        self._arrays: list[_Array] = []
        for at, operation in enumerate(self._operations):
            self._visit(at, operation)
        self._give_back(graph.outputs)

    def peak(self) -> int:
        change: dict[int, int] = defaultdict(int)
        for array in self._arrays:
            change[array.start] += array.size
            change[array.end + 1] -= array.size
        alive = most = 0
        for at in sorted(change):
            alive += change[at]
            most = max(most, alive)
        return most

    def _visit(self, at: int, operation: Any) -> None:
        kind, outputs = operation.type, operation.outputs
        values = [self._number[id(tensor)] for tensor in operation.inputs]
        if kind in _ALIASES and values:
            self._number[id(outputs[0])] = values[0]
            return
        if kind == "Placeholder":
            self._argument(operation)
            return
        stored = kind in _STORED or (not self._fused and kind != "Const")
        if stored:
            self._read(at, operation, values)
        read = frozenset[_Array]().union(*(self._reads[value] for value in values))
        identity = _identity(operation, values)
        for position, tensor in enumerate(outputs):
            value = self._number[id(tensor)] = (identity, position)
            if value in self._reads:
                continue  # computed before, word for word: a compiler does it once
            # A list that a loop walks over is the array it was made from, laid out by turns.
            held = operation.inputs[0] if kind == "TensorListFromTensor" else tensor
            if stored and _bytes(held):
                self._array[value] = self._new(_bytes(held), at, read)
                self._reads[value] = frozenset([self._array[value]])
            else:
                self._reads[value] = read

    def _argument(self, operation: Any) -> None:
        """Arguments are arrays too, but not the program's own: they count nothing here."""
        for tensor in operation.outputs:
            value = self._number[id(tensor)] = operation.name
            argument = _Array(0, 0, of_weights=tensor.dtype == tf.resource)
            self._array[value] = argument
            self._reads[value] = frozenset([argument])

    def _read(self, at: int, operation: Any, values: list[Hashable]) -> None:
        """The operands of an operation that is really run, as arrays where it wants them so."""
        for place, (value, tensor) in enumerate(zip(values, operation.inputs, strict=True)):
            read_at = at
            anew = value not in self._array or (place == 0 and operation.type in _IMAGES)
            if operation.type in _PRODUCTS and anew:
                if value not in self._operands:
                    self._operands[value] = self._new(_bytes(tensor), at, self._reads[value])
                self._operands[value].read(at)
                read_at = self._operands[value].start
            for array in self._reads[value]:
                array.read(read_at)

    def _give_back(self, outputs: Iterable[Any]) -> None:
        """What the program returns is not its own: results are counted by whoever keeps them."""
        end = len(self._operations)
        for tensor in outputs:
            value = self._number[id(tensor)]
            if value in self._array:
                self._array[value].size = 0
            for array in self._reads[value]:
                array.read(end)

    def _new(self, size: int, at: int, read: frozenset[_Array]) -> _Array:
        of_weights = bool(read) and all(array.of_weights for array in read)
        array = _Array(0 if of_weights else size, at, of_weights=of_weights)
        self._arrays.append(array)
        return array


def _identity(operation: Any, values: list[Hashable]) -> Hashable:
    """Equal for operations that compute the same from the same; a loop is only like itself."""
    if operation.type in ("StatelessWhile", "While"):
        return operation.name
    attributes = operation.node_def.attr
    told = sorted(name for name in attributes if not name.startswith("_"))
    said = tuple((name, attributes[name].SerializeToString()) for name in told)
    return hash((operation.type, tuple(values), said))


def _bytes(tensor: Any) -> int:
    if tensor.dtype in _WITHOUT_BYTES:
        return 0
    return int(tensor.shape.num_elements() or 0) * int(tensor.dtype.size)
