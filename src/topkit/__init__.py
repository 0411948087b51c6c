"""topkit: label the top k with few human judgments, learn a ranker from them, and know how good it is.

The public names are listed in ``__init__.pyi``. Each is imported when it is first used, so that
``import topkit`` and the command line start fast.
"""

import lazy_loader

from topkit.version import __version__

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ = [*__all__, "__version__"]
