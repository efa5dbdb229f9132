"""What a contract demands is part of what its rows were made with (CO-02, CO-03, VE-01)."""

from __future__ import annotations

from typing import get_args

import pandera.polars as pa
import polars as pl
import pytest

from linkrag_dagster.contracts.columns import Contract, column, count, table, text
from linkrag_dagster.declaration.model import Rule
from linkrag_dagster.stages.road import STAGES


def _contract(**changed: pa.Column) -> Contract:
    columns = {"name": text("a name"), "size": count("a size"), "kind": text("how", among=("a", "b"))}
    return table("things", "things", ("name",), "A thing.", {**columns, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"size": count("a size", least=1)},
        {"size": count("a size", null=True)},
        {"size": count("a size", provenance=True)},
        {"size": column(pl.Float64, "a size")},
        {"kind": text("how", among=("a", "b", "c"))},
        {"colour": text("one column more")},
    ],
    ids=["bound", "nulls", "provenance", "type", "values", "column"],
)
def test_another_demand_is_another_contract(changed: dict[str, pa.Column]) -> None:
    """VE-01, CO-01: values, nulls, types, columns and what counts as content."""
    assert _contract().mark == _contract().mark
    assert _contract(**changed).mark != _contract().mark


def test_other_words_are_the_same_contract() -> None:
    """VE-03: a description makes no row stale."""
    assert _contract(size=count("how large it is")).mark == _contract().mark
    key = table("things", "things", ("name", "size"), "A thing.", dict(_contract().schema.columns))
    assert key.mark != _contract().mark


def test_every_rule_that_may_warn_has_its_stages() -> None:
    """CO-03: a rule that can be declared to warn is part of the specs of the stages that hold it, and no other is."""
    assert frozenset().union(*(stage.may_warn for stage in STAGES)) == set(get_args(Rule))
