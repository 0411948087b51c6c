"""The ground floor: threads, chunks of queries, processes, Dask, and when to stop an iteration.

The names are listed in ``__init__.pyi`` and imported when they are first used, because every command imports
this room and few need processes or a cluster.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
