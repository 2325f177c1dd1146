"""The treebanks of one language as one table of tokens and one of sentences."""

import csv
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from blimpworks.campaign.settings.treebanks import TreebankOptions
from blimpworks.files import write_text
from blimpworks.linguistics.treebanks.reading import Reading
from blimpworks.tables import SENTENCES, TOKENS, write_table

REPORT_COLUMNS = ("treebank", "file", "line", "sent_id", "reason")


def read_treebank(path: Path, treebank: str, options: TreebankOptions, first: int = 0) -> Reading:
    """Read a CoNLL-U file with the reader of ``options``; sentences are numbered from ``first``.

    Raises UserError when the file is missing, holds no sentence or, unless the options set
    such sentences aside, has a malformed one.
    """
    if options.reader == "conllu":
        from blimpworks.linguistics.treebanks.reference import read_with_conllu as read
    else:
        from blimpworks.linguistics.treebanks.conllu import read_conllu as read
    return read(path, treebank, options.malformed, first)


def build_tokens(
    files: list[tuple[str, Path]],
    tokens: Path,
    sentences: Path,
    malformed_report: Path,
    options: TreebankOptions,
) -> dict[str, int]:
    """Read ``files`` (treebank, path) in order and write the two tables and the report.

    Sentences are numbered from 0 through all files. Returns the number of files, sentences,
    words, tokens (ranges and empty nodes included) and sentences set aside. Raises UserError
    when a file is missing, empty or, unless the options set them aside, malformed; then no
    product is written.
    """
    readings, read = [], 0
    for treebank, path in files:
        readings.append(read_treebank(path, treebank, options, read))
        read += len(readings[-1].sentences)
    # Labels of all files share one dictionary.
    token_table, sentence_table = (
        pa.concat_tables(getattr(reading, name) for reading in readings)
        .unify_dictionaries()
        .combine_chunks()
        for name in ("tokens", "sentences")
    )
    malformed = [entry for reading in readings for entry in reading.malformed]
    del readings

    write_table(token_table, TOKENS, tokens)
    write_table(sentence_table, SENTENCES, sentences)
    report = io.StringIO()
    writer = csv.writer(report, delimiter="\t", lineterminator="\n")
    writer.writerow(REPORT_COLUMNS)
    writer.writerows([getattr(entry, column) for column in REPORT_COLUMNS] for entry in malformed)
    write_text(malformed_report, report.getvalue())
    return {
        "files": len(files),
        "sentences": len(sentence_table),
        "words": pc.count(token_table["word"]).as_py(),
        "tokens": len(token_table),
        "set_aside": len(malformed),
    }
