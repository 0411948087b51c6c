"""Study files: what is accepted, what is refused and with which advice."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from topkit.data import InputError
from topkit.data.settings import settings_of
from topkit.studies.kinds import KINDS
from topkit.studies.study_file import parse_study, read_study
from topkit.studies.template import template

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", KINDS)
def test_the_template_of_every_kind_is_a_study_with_every_setting_explained(name: str) -> None:
    text = template(name)
    study = parse_study(text, "study.toml")
    assert study.kind == name
    assert study.settings == KINDS[name].code.settings()
    for key in settings_of(KINDS[name].code.settings):
        (line,) = [line for line in text.splitlines() if line.startswith(f"{key} = ")]
        assert " # " in line
    assert tomllib.loads(text)["kind"] == name


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_is_a_study_that_says_how_to_run_it(path: Path) -> None:
    study = read_study(path)
    assert study.title
    text = path.read_text()
    assert f"topkit study run examples/{path.name}" in text
    assert '"/' not in text, "no paths of one machine"


def test_rankers_as_names_and_tables() -> None:
    study = parse_study(
        'kind = "compare"\nseeds = [3, 4]\n'
        'rankers = ["ranksvm", { ranker = "focusednet", name = "focused", set = { k = 5 }, '
        "try = { beta = [0.1, 0.9] }, trials = 1 }]"
    )
    plain, table = study.rankers
    assert (plain.name, plain.settings, plain.choices) == ("ranksvm", {}, {})
    assert (table.name, table.settings, table.choices) == ("focused", {"k": 5}, {"beta": (0.1, 0.9)})
    assert study.seeds == (3, 4)
    assert study.choose == "ndcg@10"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = ", "invalid TOML"),
        ('kind = "comparee"', "did you mean 'compare'"),
        ('kind = "compare"\nmetric = ["map"]', "did you mean 'metrics'"),
        ('kind = "compare"\nmetrics = ["mapp"]', "mapp"),
        ('kind = "compare"\nrankers = ["listnett"]', "listnett"),
        ('kind = "compare"\nrankers = [{ ranker = "listnet", sett = {} }]', "did you mean 'set'"),
        ('kind = "compare"\nrankers = [{ ranker = "listnet", set = { l3 = 1 } }]', "no setting 'l3'"),
        ('kind = "compare"\nrankers = [{ ranker = "focusednet", try = { beta = [3.0] } }]', "beta"),
        ('kind = "compare"\nrankers = ["listnet", "listnet"]', "two rankers have the name 'listnet'"),
        ('kind = "compare"\nseeds = [-1]', "integers of at least 0"),
        ('kind = "compare"\n[[data]]\nfiles = "x.txt"', "needs a name"),
        ('kind = "compare"\n[[data]]\nname = "x"\nfile = "x.txt"', "did you mean 'files'"),
        ('kind = "compare"\n[[data]]\nname = "x"\nconvention = "letor9"', "letor9"),
        (
            'kind = "compare"\n[settings]\ntest = "chi"',
            "test must be one of t, wilcoxon, randomisation, tukey, got 'chi'",
        ),
        ('kind = "compare"\n[settings]\nbaselin = "x"', "did you mean 'baseline'"),
        (
            'kind = "k"\n[settings]\nks = "ten"',
            "each of at least 0, got 'ten'",
        ),
        (
            'kind = "k"\n[settings]\nks = [1.5]',
            "each of at least 0, got [1.5]",
        ),
    ],
)
def test_what_is_wrong_is_said_with_the_file_and_a_way_out(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_study(text, "mine.toml")
    assert message in str(caught.value)
    assert str(caught.value).startswith("mine.toml: ")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('files = "nowhere.txt"', "does not exist"),
        ('truth = "graded"', "write truth = 'labels'"),
        ('truth = "teacher-x"', "unknown kind of truth"),
        ("folds = [7]", "has no fold 7"),
        ('files = "{part}.txt"\nfolds = [2]', "has only one fold"),
        ('files = "{parts}.txt{part}"\nfolds = [1]', "invalid file pattern"),
        ('labels = "order"\ntruth = "teacher"', "a teacher needs graded documents"),
    ],
)
def test_data_that_is_not_there_or_makes_no_sense(lines: str, message: str, tmp_path: Path) -> None:
    study = parse_study(f'kind = "compare"\n[[data]]\nname = "x"\n{lines}', tmp_path / "s.toml")
    with pytest.raises(InputError, match=message):
        list(KINDS["compare"].code.cells(study))


@pytest.mark.parametrize(
    "text",
    [
        "seeds = [" + "9" * 5000 + "]",
        "seeds = [0x" + "f" * 5000 + "]",
        "seeds = [99999999999999999999]",
        "seeds = [true]",
        "seeds = " + "[" * 100_000,
        'rankers = [{ ranker = "listnet", trials = "many" }]',
        'rankers = [{ ranker = "listnet", trials = 0x' + "f" * 5000 + " }]",
        'rankers = [{ ranker = "listnet", set = { seed = 0x' + "f" * 5000 + " } }]",
        'rankers = [{ ranker = "listnet", set = { name = "x" } }]',
        'rankers = [{ ranker = "listnet", set = 3 }]',
        'rankers = [{ ranker = "listnet", try = 3 }]',
        'rankers = [{ ranker = "focusednet", set = { beta = 0x' + "f" * 5000 + " } }]",
        '[[data]]\nname = "demo"\nfolds = [0x' + "f" * 5000 + "]",
    ],
)
def test_huge_numbers_and_wrong_types_are_input_errors(text: str) -> None:
    with pytest.raises(InputError):
        parse_study('kind = "compare"\n' + text)


def test_a_measure_that_is_not_text_is_refused() -> None:
    with pytest.raises(InputError, match="unknown metric 'True'"):
        parse_study('kind = "compare"\nmetrics = [true]')


def test_a_range_of_depths_stands_for_several_measures() -> None:
    study = parse_study('kind = "compare"\nmetrics = ["kndcg@1..3", "err", "kndcg@2"]')
    assert study.metrics == ("kndcg@1", "kndcg@2", "kndcg@3", "err")
    assert study.choose == "kndcg@1"
    with pytest.raises(InputError, match="names 2"):
        parse_study('kind = "compare"\nmetrics = ["err"]\nchoose = "ndcg@1..2"')
