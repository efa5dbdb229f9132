"""Numbers with what they count, in the singular and the plural."""


def counted(number: int, thing: str) -> str:
    """`1 chunk`, `2 chunks`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def line_range(first: int, last: int) -> str:
    """`line 3`, `lines 3–5`."""
    return f"line {first}" if first == last else f"lines {first}–{last}"
