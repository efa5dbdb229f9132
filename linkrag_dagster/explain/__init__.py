"""Why a document was cut where it was, for people: in the terminal, and as one page. Pure; knows `chunking`."""

from linkrag_dagster.explain.account import Account, account_of
from linkrag_dagster.explain.counted import counted
from linkrag_dagster.explain.limits import Limits, limits_of
from linkrag_dagster.explain.page import page
from linkrag_dagster.explain.terminal import terminal

__all__ = ["Account", "Limits", "account_of", "counted", "limits_of", "page", "terminal"]
