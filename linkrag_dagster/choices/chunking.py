"""What else of chunking is chosen by a word."""

from __future__ import annotations

from typing import Literal

AdjacentContext = Literal["section", "physical"]
"""Whether the words beside an image or a table stay in its section (CB-14)."""
ForeignTitle = Literal["drop", "keep"]
"""What happens to a title in another script than its text's (EX-02)."""
Overflow = Literal["split", "vectors", "pool", "error"]
"""What happens to a chunk above the encoder's window (EX-05)."""
Oversize = Literal["split", "truncate"]
"""What happens to one protected block above the hard maximum (SD-11)."""
Unit = Literal["chars", "tokens"]
"""What sizes are counted in: code points, or tokens of the budget's tokenizer (ST-01)."""
WindowWeighting = Literal["equal", "tokens"]
"""How the vectors of a window count (SD-04)."""
