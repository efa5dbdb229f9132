"""What a declaration says about recognition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OcrSettings:
    """When characters are recognised, and what becomes of those that were read badly (XT-08).

    Attributes:
        enabled: whether pages without usable text are recognised at all.
        mark_below: mean confidence of a page below which it is marked.
        leave_out_below: confidence of a page, or a line, below which it stays out of the text.
    """

    enabled: bool = True
    mark_below: float = 0.8
    leave_out_below: float = 0.5

    @classmethod
    def of(cls, options: Mapping[str, object]) -> OcrSettings:
        """The settings in an extractor's options, under `ocr`; what is missing there has its default.

        Raises:
            ValueError: on an unknown key, or a value of the wrong type.
        """
        given = options.get("ocr", {})
        if isinstance(given, OcrSettings):
            return given
        if not isinstance(given, Mapping):
            raise ValueError(f"options.ocr: a mapping is wanted, not {given!r}")
        found = cls()
        values: dict[str, bool | float] = {
            "enabled": found.enabled,
            "mark_below": found.mark_below,
            "leave_out_below": found.leave_out_below,
        }
        for key, value in given.items():  # pyright: ignore[reportUnknownVariableType]
            if not isinstance(key, str) or key not in values:
                raise ValueError(f"options.ocr: unknown key {key!r}; one of {', '.join(values)}")
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if number is (key == "enabled") or not isinstance(value, (int, float)):
                raise ValueError(
                    f"options.ocr.{key}: {value!r} is no {'bool' if key == 'enabled' else 'number'}"
                )
            values[key] = value
        return cls(bool(values["enabled"]), float(values["mark_below"]), float(values["leave_out_below"]))
