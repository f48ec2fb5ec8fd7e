"""The words behind the rules of `sentences`: short forms with a full stop, and what may follow."""

from __future__ import annotations

from myxtts.text.english_words import MONTH_NAMES

LEADING = frozenset({
    "mr", "mrs", "ms", "messrs", "mme", "mlle", "dr", "drs", "prof", "rev", "hon", "gen", "col",
    "maj", "capt", "cmdr", "lt", "sgt", "gov", "sen", "rep", "pres", "st", "mt", "ft", "cf", "viz",
    "vs", "approx",
})  # fmt: skip
"""Followed by what they belong to: never the end of a sentence."""

NUMBERED = frozenset({
    "no", "nos", "vol", "vols", "p", "pp", "ch", "fig", "figs", "eq", "sec", "art", "ca", "صص",
    *(name.lower() for name in MONTH_NAMES if len(name) == 3 or name == "Sept"),
})  # fmt: skip
"""The same, when a number follows."""

TRAILING = frozenset({
    "etc", "inc", "ltd", "co", "corp", "jr", "sr", "esq", "bros", "dept", "assn", "ave", "blvd",
    "rd",
})  # fmt: skip
"""Perhaps the end of a sentence: when the next word is one of `BEGINNING`."""

BEGINNING = frozenset({
    "A", "An", "The", "This", "That", "These", "Those", "There", "Here", "It", "He", "She", "We",
    "They", "You", "I", "My", "His", "Her", "Its", "Our", "Their", "But", "And", "Or", "So", "Then",
    "Now", "When", "Where", "Why", "How", "What", "Who", "If", "In", "On", "At", "As", "For",
    "From", "After", "Before", "However", "Yet", "Still", "No", "Not", "Yes",
})  # fmt: skip
"""Words that begin sentences far more often than names."""
