"""A small builder of ONNX graphs: each call adds one operation and returns the name of its result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

DOUBLE, FLOAT = "double", "float"


class Graph:
    """Operations and constants in the order in which they were added."""

    def __init__(self) -> None:
        from onnx import helper

        self._helper = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: ArrayLike, dtype: type[np.generic] = np.float64) -> str:
        from onnx import numpy_helper

        name = f"c{len(self.constants)}"
        array: NDArray[Any] = np.ascontiguousarray(value, dtype).reshape(np.shape(value))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operation: str, *inputs: str, domain: str = "", output: str = "", **settings: Any) -> str:
        name = output or f"v{len(self.nodes)}"
        self.nodes.append(
            self._helper.make_node(
                operation, list(inputs), [name], name=f"n{name}", domain=domain, **settings
            )
        )
        return name

    def cast(self, value: str, to: str, output: str = "") -> str:
        from onnx import TensorProto

        number = TensorProto.DOUBLE if to == DOUBLE else TensorProto.FLOAT
        return self.add("Cast", value, to=number, output=output)
