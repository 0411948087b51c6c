"""Targets for what users type: study files, ``--set`` texts and the names of measures."""
# ruff: noqa: E501 - the lists of words are easier to read in long lines

from __future__ import annotations

from pathlib import Path
from random import Random

from bench.fuzz.mutate import mutate, number
from bench.fuzz.target import Prepared

TOML_WORDS = (
    *(
        b"[settings];[[data]];kind = ;rankers = [];seeds = [-1];trials = -1;{ };set = { k = 0 };inf;nan".split(
            b";"
        )
    ),
    *(
        b"0x7fffffffffffffffffff;1979-05-27;'''; = ;[[rankers]];folds = [0];metrics = [];try = { k = [] }".split(
            b";"
        )
    ),
    b'{ ranker = "listnet", set = { l2 = nan } }',
    b'{ ranker = "listnet", try = 3 }',
    b'{ ranker = "listnet", trials = "x" }',
    b'rankers = [{ ranker = "listnet", set = 3 }]',
)
TOML_VALUES = (
    *(
        b'true|1.5|-1|0|"x"|[]|[1]|["a"]|{}|{ a = 1 }|99999999999999999999|nan|inf|1979-05-27|[[]]|[true]'.split(
            b"|"
        )
    ),
    *(
        b'"ndcg@10"|["ndcg@1..99999"]|["listnet"]|[{ ranker = "mart", trials = 1e9 }]|10:00:00|"top-10"'.split(
            b"|"
        )
    ),
    b'[{ ranker = "listnet", set = 3 }]',
    b'[{ ranker = "listnet", try = { k = 3 } }]',
    b"[{ ranker = 3, name = [] }]",
)


def study(folder: Path) -> Prepared:
    """read_study of the templates of all kinds, with other values."""
    from topkit.studies.kinds import KINDS
    from topkit.studies.study_file import read_study
    from topkit.studies.template import template

    path = folder / "study.toml"
    templates = [template(kind).encode() for kind in KINDS]

    def check(content: bytes, valid: bool) -> None:
        path.write_bytes(content)
        read_study(path)

    def damage(rng: Random, content: bytes) -> bytes:
        """Another value for one key; a third of the time two keys."""
        lines = content.split(b"\n")
        keyed = [i for i, line in enumerate(lines) if b" = " in line and not line.startswith(b"#")]
        for i in rng.sample(keyed, min(len(keyed), rng.choice((1, 1, 2)))):
            key = lines[i].partition(b" = ")[0]
            lines[i] = key + b" = " + (rng.choice(TOML_VALUES) if rng.random() < 0.8 else number(rng))
        return b"\n".join(lines)

    return Prepared(check, lambda rng: rng.choice(templates), TOML_WORDS, damage)


VALUES = (
    *(
        b"0 1 -1 0.5 1e9 nan inf -inf none true false auto x listnet mlp trees linear ndcg@10 topk all".split()
    ),
    *(b"1,2 1,,2 , [1] 8,64 () yahoo trec min-max 1e400 99999999999999999999 2**3".split()),
)


def settings(folder: Path) -> Prepared:
    """``--set`` texts of rankers and fusion methods: parsed, and used to make the ranker."""
    from topkit.cli.shared import fusion_settings, ranker_settings
    from topkit.fusion import AGGREGATORS
    from topkit.rankers import RANKERS, ranker
    from topkit.rankers.by_name import settings_of

    known = {name: list(settings_of(name)) for name in RANKERS}
    methods = list(AGGREGATORS)

    def check(content: bytes, valid: bool) -> None:
        owner, *texts = content.decode("utf-8", "surrogateescape").split("\n")
        if owner.startswith("fuse "):
            fusion_settings(owner.removeprefix("fuse "), texts)
        else:
            ranker(owner, **ranker_settings(owner, texts))

    def texts(rng: Random) -> bytes:
        if rng.random() < 0.2:
            return f"fuse {rng.choice(methods)}\n".encode() + b"depth=" + rng.choice(VALUES)
        name = rng.choice(list(known))
        chosen = rng.sample(known[name], min(len(known[name]), rng.randrange(1, 4)))
        lines = [f"{key}=".encode() + rng.choice(VALUES) for key in chosen]
        return b"\n".join([name.encode(), *lines])

    def damage(rng: Random, content: bytes) -> bytes:
        return mutate(rng, texts(rng)) if rng.random() < 0.5 else texts(rng)

    def generate(rng: Random) -> bytes:
        name = rng.choice(list(known))
        return f"{name}\nseed={rng.randrange(9)}".encode()

    words = (b"=", b".", b"base_settings.", b"k=1\n", b"base=", b"scorer=mlp\n", b"..", b"hidden=")
    return Prepared(check, generate, words, damage, valid_share=0.1)


def metrics(folder: Path) -> Prepared:
    """The names of measures: what is accepted prints as text that parses to the same measures."""
    from bench.fuzz.target import DifferenceError
    from topkit.metrics import METRICS
    from topkit.metrics.parse import parse_metrics

    known = list(METRICS)

    def check(content: bytes, valid: bool) -> None:
        parsed = parse_metrics(content.decode("utf-8", "surrogateescape"))
        again = parse_metrics(",".join(map(str, parsed)))
        if again != parsed:
            raise DifferenceError(f"{parsed[0]} prints as text that parses differently")

    def generate(rng: Random) -> bytes:
        return ",".join(rng.choice(known) for _ in range(rng.randrange(1, 4))).encode()

    def damage(rng: Random, content: bytes) -> bytes:
        name = rng.choice(known).encode()
        keys = [key.encode() for key in METRICS[name.decode()].settings] or [b"rel"]
        pieces = [name]
        if rng.random() < 0.5:
            pieces.append(b"(" + rng.choice(keys) + b"=" + number(rng) + b")")
        if rng.random() < 0.7:
            pieces.append(
                b"@" + rng.choice((b"1", b"10", b"0", b"1..3", b"5..2", number(rng), b"1.." + number(rng)))
            )
        return b"".join(pieces)

    return Prepared(check, generate, (b"@", b"..", b"(rel=2)", b"_cut_10", b"P_5", b"@1..10", b",,"), damage)
