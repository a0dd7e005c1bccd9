"""Arrays in kernels whose owners are not counted.

Compiled code counts who holds an array each time one is taken from a tuple or handed to another kernel, with
instructions that lock memory: dozens of nanoseconds where a loop should take one. An array that a call from
Python brought lives until that call returns, so inside of it nobody needs to count.
"""

from __future__ import annotations

from typing import Any

from situ.compiled.jit import kernel_compiled_from


def _without_owner() -> Any:
    from numba.extending import intrinsic

    @intrinsic
    def ownerless(_: Any, array: Any) -> Any:
        def cast(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            view = context.make_array(signature.args[0])(context, builder, value=arguments[0])
            view.meminfo = view.meminfo.type(None)
            view.parent = view.parent.type(None)
            return view._getvalue()

        return array(array), cast

    def borrow(array):  # type: ignore[no-untyped-def]
        return ownerless(array)

    return borrow


@kernel_compiled_from(_without_owner)
def borrowed(array: Any) -> Any:
    """The same array for use inside of a kernel that Python called with it, and never to be returned."""
    return array
