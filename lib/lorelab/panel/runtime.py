"""What compiled code of a panel calls that the browser answers; here nothing happens."""

from ctypes import CFUNCTYPE, c_int64, c_void_p, cast

from llvmlite import binding, ir
from numba.core import types
from numba.extending import intrinsic

NAME = "lorelab_progress"
FULL = "lorelab_full"
_NOTHING = CFUNCTYPE(None, c_int64, c_int64)(lambda _done, _whole: None)
_NONE = CFUNCTYPE(None)(lambda: None)
binding.add_symbol(NAME, cast(_NOTHING, c_void_p).value)
binding.add_symbol(FULL, cast(_NONE, c_void_p).value)


@intrinsic
def progress(_, done, whole):
    """Tell the page that the model is at step `done` of `whole`."""

    def codegen(context, builder, signature, args):
        number = ir.IntType(64)
        function = builder.module.globals.get(NAME) or ir.Function(
            builder.module, ir.FunctionType(ir.VoidType(), [number, number]), NAME
        )
        steps = [
            context.cast(builder, value, kind, types.int64)
            for value, kind in zip(args, signature.args, strict=True)
        ]
        builder.call(function, steps)
        return context.get_dummy_value()

    return types.none(done, whole), codegen


@intrinsic
def full(_):
    """Tell the page that what follows is an end for want of memory."""

    def codegen(context, builder, signature, args):
        function = builder.module.globals.get(FULL) or ir.Function(
            builder.module, ir.FunctionType(ir.VoidType(), []), FULL
        )
        builder.call(function, [])
        return context.get_dummy_value()

    return types.none(), codegen
