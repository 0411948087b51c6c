"""The names of this room, each with the file it comes from."""

from .arrays import Bools as Bools
from .arrays import Bytes as Bytes
from .arrays import Floats as Floats
from .arrays import Floats32 as Floats32
from .arrays import Ints as Ints
from .arrays import Ints32 as Ints32
from .executors import Finished as Finished
from .executors import run_cells as run_cells
from .extras import MissingExtraError as MissingExtraError
from .extras import require as require
from .parameters import fields_as_parameters as fields_as_parameters
from .stopping import NotConverged as NotConverged
from .stopping import Report as Report
from .stopping import Trace as Trace
from .stopping import silent as silent
from .threads import beside as beside
from .threads import one_blas_thread as one_blas_thread
from .threads import over_queries as over_queries
from .threads import query_chunks as query_chunks
from .threads import row_chunks as row_chunks
from .threads import thread_count as thread_count
from .threads import thread_map as thread_map
