"""``topkit warm-up``: compile the kernels, for example when an image is built."""

from __future__ import annotations

import typer


def warm_up() -> None:
    """Compile all kernels, so that the first real command does not have to; takes a few minutes once.

    The compiled code goes into Numba's cache: the folder `NUMBA_CACHE_DIR` if it is set, else beside the
    installed package. Run it as the user and on the kind of processor that will run topkit.

    Example: `topkit warm-up`
    """
    import time

    from topkit.reporting.progress import progress
    from topkit.studies.warm_up import warm_up as compile_kernels

    start = time.perf_counter()
    with progress("compiling", lines=True) as report:
        steps = compile_kernels(report)
    typer.echo(f"compiled the kernels in {steps} steps, {time.perf_counter() - start:.0f} seconds")
