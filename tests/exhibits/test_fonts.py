"""Fonts of figures: one for each script, and what to install where there is none."""

import pytest

from blimpworks.benchmarks.exhibits.drawing import Names
from blimpworks.commands.registry import recorded_commands
from blimpworks.exhibits import fonts
from blimpworks.records.job import Job
from blimpworks.records.reading import record_of


def test_names_have_a_font_for_each_script_and_numbers_where_there_is_none(monkeypatch):
    known = {"THAI": "Loma", "DEVANAGARI": "Lohit Devanagari"}
    by_script = lambda texts: known.get(fonts.script_of(fonts.letters_of(texts)))  # noqa: E731
    monkeypatch.setattr(fonts, "font_for", by_script)
    names = Names.of(["eng", "ไทย", "किताब", "ខ្មែរ"])
    assert names.families == ("DejaVu Sans", "Lohit Devanagari", "Loma")
    assert [*names.shown.values()] == ["eng", "ไทย", "किताब", "1"]
    assert names.listed == " Numbers stand for names: 1 ខ្មែរ."


@pytest.mark.parametrize(
    ("names", "packages"),
    [
        (["ខ្មែរ", "தமிழ்", "ไทย"], ["fonts-noto-core"]),
        (["日本語。", "かな", "한국어"], ["fonts-noto-cjk"]),
        (["किताब", "日本"], ["fonts-lohit-deva", "fonts-noto-cjk"]),
    ],
)
def test_the_record_of_a_figure_has_the_packages_of_fonts_that_it_lacks(
    names, packages, tmp_path, monkeypatch, caplog
):
    bundled = [f for f in fonts.font_manager.fontManager.ttflist if f.name == "DejaVu Sans Mono"]
    monkeypatch.setattr(fonts.font_manager.fontManager, "ttflist", bundled)
    monkeypatch.setattr(fonts.font_manager, "findSystemFonts", list)
    output = tmp_path / "figure.txt"
    with Job(recorded_commands()["judge"], inputs=[], outputs=[output], params={}):
        families, absent = fonts.families_for(fonts.letters_of(names))
        output.write_text("drawn")
    assert (families, absent) == ([], fonts.letters_of(names))
    assert record_of(output)["notes"][fonts.WANTED] == packages
    assert all(package in caplog.text for package in packages)
