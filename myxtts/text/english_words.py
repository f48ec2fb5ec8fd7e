"""The words behind the rules of `english`: abbreviations, currencies, units, months, symbols."""

from __future__ import annotations

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

MONTH_NAMES: dict[str, int] = {
    **{name: number for number, name in enumerate(MONTHS, 1)},
    **{name[:3]: number for number, name in enumerate(MONTHS, 1) if name != "May"},
    "Sept": 9,
}

_BEFORE_A_NAME = r"(?=\s+[A-Z])"

ABBREVIATIONS: tuple[tuple[str, str], ...] = (
    (r"\bMr\b\.?", "Mister"),
    (r"\bMrs\b\.?", "Missus"),
    (r"\bMs\b\.", "Miz"),
    (r"\bMessrs\b\.?", "Messieurs"),
    (rf"\bDr\b\.?{_BEFORE_A_NAME}", "Doctor"),
    (r"\bDr\.", "Drive"),
    (r"\bDrs\.", "Doctors"),
    (rf"\bSt\.?{_BEFORE_A_NAME}", "Saint"),
    (r"\bSt\.", "Street"),
    (r"\bAve\.", "Avenue"),
    (r"\bBlvd\.", "Boulevard"),
    (r"\bMt\.", "Mount"),
    (r"\bFt\.(?=\s+[A-Z])", "Fort"),
    (r"\bPh\.\s?D\.", "P-H-D"),
    (r"\bProf\.", "Professor"),
    (r"\bRev\.", "Reverend"),
    (r"\bHon\.", "Honorable"),
    (r"\bGen\.", "General"),
    (r"\bCol\.", "Colonel"),
    (r"\bMaj\.", "Major"),
    (r"\bCapt\.", "Captain"),
    (r"\bCmdr\.", "Commander"),
    (r"\bLt\.", "Lieutenant"),
    (r"\bSgt\.", "Sergeant"),
    (r"\bGov\.", "Governor"),
    (r"\bSen\.", "Senator"),
    (r"\bRep\.", "Representative"),
    (r"\bPres\.", "President"),
    (r"\bJr\b\.?", "Junior"),
    (r"\bSr\b\.?", "Senior"),
    (r"\bEsq\.", "Esquire"),
    (r"\bCo\.", "Company"),
    (r"\bCorp\.", "Corporation"),
    (r"\bInc\.", "Incorporated"),
    (r"\bLtd\.", "Limited"),
    (r"\bBros\.", "Brothers"),
    (r"\bDept\.", "Department"),
    (r"\bAssn\.", "Association"),
    (r"\b[Nn]os?\.(?=\s*\d)", "number"),
    (r"\bVol\.(?=\s*[\dIVX])", "Volume"),
    (r"\bvol\.(?=\s*\d)", "volume"),
    (r"\bpp\.(?=\s*\d)", "pages"),
    (r"\bp\.(?=\s*\d)", "page"),
    (r"\b[Cc]h\.(?=\s*\d)", "chapter"),
    (r"\bFig\.(?=\s*\d)", "Figure"),
    (r"\bapprox\.", "approximately"),
    (r"\betc\b\.?", "et cetera"),
    (r"\be\.g\.,?", "for example,"),
    (r"\bi\.e\.,?", "that is,"),
    (r"\bvs\b\.?", "versus"),
    (r"\bviz\.", "namely"),
)

CURRENCIES: dict[str, tuple[str, str, str, str]] = {
    "$": ("dollar", "dollars", "cent", "cents"),
    "£": ("pound", "pounds", "penny", "pence"),
    "€": ("euro", "euros", "cent", "cents"),
    "¥": ("yen", "yen", "sen", "sen"),
    "₹": ("rupee", "rupees", "paisa", "paise"),
}

UNITS: dict[str, tuple[str, str]] = {
    "km/h": ("kilometer per hour", "kilometers per hour"),
    "m/s": ("meter per second", "meters per second"),
    "mph": ("mile per hour", "miles per hour"),
    "km": ("kilometer", "kilometers"),
    "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"),
    "kg": ("kilogram", "kilograms"),
    "mg": ("milligram", "milligrams"),
    "lb": ("pound", "pounds"),
    "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"),
    "ft": ("foot", "feet"),
    "ml": ("milliliter", "milliliters"),
    "°C": ("degree Celsius", "degrees Celsius"),
    "°F": ("degree Fahrenheit", "degrees Fahrenheit"),
    "°": ("degree", "degrees"),
    "GHz": ("gigahertz", "gigahertz"),
    "MHz": ("megahertz", "megahertz"),
    "kHz": ("kilohertz", "kilohertz"),
    "Hz": ("hertz", "hertz"),
    "TB": ("terabyte", "terabytes"),
    "GB": ("gigabyte", "gigabytes"),
    "MB": ("megabyte", "megabytes"),
    "KB": ("kilobyte", "kilobytes"),
    "ms": ("millisecond", "milliseconds"),
    "min": ("minute", "minutes"),
    "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"),
    "¢": ("cent", "cents"),
}

VULGAR_FRACTIONS = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4",
    "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8",
}  # fmt: skip

# After these a roman numeral counts (Chapter IV: chapter four) ...
COUNTED_NOUNS = (
    "War", "Chapter", "Part", "Volume", "Book", "Act", "Scene", "Section", "Article", "Phase",
    "Title", "Appendix", "Table", "Figure", "Plate", "Type", "Class", "Mark", "Number",
)  # fmt: skip

# ... and after these it orders (Henry VIII: Henry the eighth).
REGNAL_NAMES = (
    "Henry", "Louis", "Charles", "George", "Edward", "Richard", "James", "William", "Elizabeth",
    "Philip", "Napoleon", "Pius", "John", "Paul", "Benedict", "Alexander", "Nicholas", "Peter",
    "Catherine", "Frederick", "Leo", "Gregory", "Innocent", "Clement", "Urban", "Francis",
    "Ferdinand", "Ivan", "Darius", "Sixtus", "Julius", "Edmund", "Mary", "Robert", "Stephen",
)  # fmt: skip

SYMBOLS = {
    "&": "and",
    "@": "at",
    "+": "plus",
    "=": "equals",
    "×": "times",
    "%": "percent",
    "$": "dollars",
    "£": "pounds",
    "€": "euros",
    "°": "degrees",
}
