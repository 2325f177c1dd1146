"""Basque numbers in words, which num2words has none of.

Source: Hualde and Ortiz de Urbina, A Grammar of Basque (2003), chapter 3.3; Euskaltzaindia's
standard spelling.
"""

_TO_TEN = ("zero", "bat", "bi", "hiru", "lau", "bost", "sei", "zazpi", "zortzi", "bederatzi")
_TEENS = ("hamar", "hamaika", "hamabi", "hamahiru", "hamalau", "hamabost", "hamasei", "hamazazpi")
_UNITS = (*_TO_TEN, *_TEENS, "hemezortzi", "hemeretzi")
_SCORES = ("", "hogei", "berrogei", "hirurogei", "laurogei")
_IRREGULAR = ("", "ehun", "berrehun", "hirurehun", "laurehun")
_HUNDREDS = (*_IRREGULAR, *(f"{unit}ehun" for unit in _TO_TEN[5:]))


def spelled(number: int) -> str:
    """``number``, 0 to 999, in words: by scores, and ``eta`` behind the hundreds.

    Raises ValueError for any other.
    """
    if not 0 <= number < 1000:
        raise ValueError(f"Basque number {number}: expected 0 to 999")
    hundreds, rest = divmod(number, 100)
    if hundreds:
        return f"{_HUNDREDS[hundreds]} eta {spelled(rest)}" if rest else _HUNDREDS[hundreds]
    scores, units = divmod(rest, 20)
    if not scores:
        return _UNITS[units]
    return f"{_SCORES[scores]}ta {_UNITS[units]}" if units else _SCORES[scores]


def spelled_as_released(number: int) -> str:
    """``number``, 0 to 999, in the words of the release, which has an older form of eighteen."""
    return spelled(number).replace("hemezortzi", "hamazortzi")


SPELLED = {"eu": spelled, "eu-release": spelled_as_released}
"""What packs name in the place of a language of num2words."""
