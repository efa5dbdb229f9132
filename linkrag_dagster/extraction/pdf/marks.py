"""Marks in front of list items."""

from __future__ import annotations

import re

BULLET = re.compile(r"[•‣◦▪▫■□●○·∙⁃–—*➢➤✓\uf0b7\uf0a7-](?:\s+|$)")
TICK = re.compile(r"([\u2610\u2611])\s+")
"""A box to tick, empty or ticked."""
NUMBER = re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)]\s", re.IGNORECASE)
