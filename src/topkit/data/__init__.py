"""Values and files: Dataset, Judgments, Run, and the readers and writers of their formats."""

from topkit.data.dataset import Dataset
from topkit.data.errors import InputError
from topkit.data.folds import Fold, query_folds, split_queries
from topkit.data.formats import read_csv
from topkit.data.join import concatenate
from topkit.data.judgments import ANSWERS, Answer, Grade, Judgments, Page, Preference
from topkit.data.letor import read_letor, write_letor
from topkit.data.lightgbm_files import read_lightgbm, write_lightgbm
from topkit.data.normalise import NORMALISATIONS, normalise
from topkit.data.pages import read_pages, read_satisfaction, write_pages
from topkit.data.parquet import read_parquet, write_parquet
from topkit.data.preferences import read_preferences, write_preferences
from topkit.data.qrels import QRELS_FORMATS, read_judged, read_qrels, write_qrels
from topkit.data.run import Run
from topkit.data.scores import read_scores, write_scores
from topkit.data.strings import Strings
from topkit.data.trec import read_run, write_run
from topkit.data.truth import Truth

__all__ = [
    "ANSWERS",
    "NORMALISATIONS",
    "QRELS_FORMATS",
    "Answer",
    "Dataset",
    "Fold",
    "Grade",
    "InputError",
    "Judgments",
    "Page",
    "Preference",
    "Run",
    "Strings",
    "Truth",
    "concatenate",
    "normalise",
    "query_folds",
    "read_csv",
    "read_judged",
    "read_letor",
    "read_lightgbm",
    "read_pages",
    "read_parquet",
    "read_preferences",
    "read_qrels",
    "read_run",
    "read_satisfaction",
    "read_scores",
    "split_queries",
    "write_letor",
    "write_lightgbm",
    "write_pages",
    "write_parquet",
    "write_preferences",
    "write_qrels",
    "write_run",
    "write_scores",
]
