"""What failed jobs said is told from Snakemake's log and theirs."""

import pytest

from blimpworks.cluster.guard import failing_words

FURTHER = "For further error details see the cluster/cloud log and the log files of the rule(s)."
REFUSED = f"""\
Error in rule score:
    message: SLURM sbatch failed. The error message was 'sbatch: error: Invalid account'.
    sbatch call:
        sbatch --parsable --wrap="python"
{FURTHER}
    jobid: 2
    log: a.log (check log file(s) for error details)
"""
UNKNOWN = f"""\
Error in rule score:
    message: Job submission failed with exception: The account
is unknown.{FURTHER}
    log: a.log (check log file(s) for error details)
"""
DIED = f"""\
Error in rule score:
    message: SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'. {FURTHER}
    log: a.log, slurm/7.log (check log file(s) for error details)
"""
LOCAL = """\
Error in rule score:
    jobid: 2
    log: a.log (check log file(s) for error details)
"""
GROUP = LOCAL.replace("rule", "group").replace("    ", "            ")


@pytest.mark.parametrize(
    ("text", "said", "expected"),
    [
        (
            REFUSED,
            "said earlier\n",
            "SLURM sbatch failed. The error message was 'sbatch: error: In",
        ),
        (UNKNOWN, "", "Job submission failed with exception: The account is unknown."),
        (DIED, "blimpworks: wrong\n", "blimpworks: wrong"),
        (DIED, "", "SLURM-job '7' failed, SLURM status is: 'NODE_FAIL'."),
        (LOCAL, "one\nblimpworks: wrong\n", "blimpworks: wrong"),
        (LOCAL, None, "said nothing"),
        (GROUP, "blimpworks: wrong\n", "blimpworks: wrong"),
        (REFUSED + LOCAL, "blimpworks: wrong\n", "blimpworks: wrong"),
    ],
)
def test_a_failed_job_is_told_with_its_words_or_those_of_slurm(
    tmp_path, monkeypatch, text, said, expected
):
    monkeypatch.chdir(tmp_path)
    if said is not None:
        (tmp_path / "a.log").write_text(said)
    first, name, words, _ = failing_words(f"before\n{text}after\n").splitlines()
    assert (first, name) == ("What failed:", "  a.log")
    assert words.strip().startswith(expected)
