"""Declare the settings of MultiBLiMP: how pairs are made, by the authors' code or by the paper.

They are the section ``multiblimp`` of a campaign (the YAML file that says what is run). Each class
is a part of it; docstrings become the descriptions of the JSON schema.
"""

from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from blimpworks.campaign.settings.base import Fraction, Methods, Positive, TiePolicy, distinct
from blimpworks.campaign.variants import Variant
from blimpworks.strict import Strict

Phenomenon = Literal["sv#", "svG", "svP", "sp#", "spG", "spP"]


class LexiconOptions(Strict):
    """Frequency filters of the lexicon derived from treebanks (MultiBLiMP, section 3)."""

    form_ratio: float = Field(3.0, ge=1)
    """A form is dropped when the most frequent form of its lemma and features is more than this
    many times as frequent."""
    bundle_ratio: float = Field(10.0, ge=1)
    """A feature bundle that occurs once is dropped when another bundle of the form is more than
    this many times as frequent. The two bundles differ in at most two tags."""


class AgreementOptions(Strict):
    """The binomial tests that label a condition (MultiBLiMP, section 4.2)."""

    null_probability: Fraction = 0.9
    """Probability of agreement under the null hypothesis."""
    alpha: Fraction = 0.1
    """Significance level: halved for the two one-sided tests, or corrected for all tests (see the
    decision ``bonferroni``)."""


class SamplingOptions(Strict):
    """Balanced sampling (MultiBLiMP, section 4.4)."""

    per_condition: Positive = 100
    """Largest number of pairs of a condition that are kept."""
    minimum: Positive = 5
    """A phenomenon with fewer pairs than this in a language yields no items."""
    seed: int = 0
    """Seed of the draw; each condition draws independently of all others."""


class Decisions(Strict):
    """Points where the authors' code departs from the paper's text, or from what was meant.

    Each decision follows ``variant`` of the campaign unless it is set here.
    """

    finiteness: Variant | None = None
    """published: the leftmost auxiliary or copula agrees, or else the verb, finite or not;
    corrected: the leftmost finite auxiliary, or else the verb, if finite (section 4.1). A word is
    finite by VerbForm=Fin, or by a Mood if it has no VerbForm."""
    first_word_auxiliary: Variant | None = None
    """published: if the auxiliary is the first word, the main verb is replaced by the auxiliary's
    other form; corrected: the auxiliary is replaced."""
    attractor_window: Variant | None = None
    """published: the word right before the later of subject and verb is never an attractor;
    corrected: it can be one."""
    copied_features: Variant | None = None
    """published: features copied from a subject stay on the verb for its next subject; corrected:
    each subject is compared with the annotated verb."""
    participle_auxiliaries: Variant | None = None
    """published: every participle agrees with its subject; corrected: not beside the auxiliaries of
    ``participle_auxiliaries.tsv`` (French *avoir*, Italian *avere*)."""
    agreement_evidence: Variant | None = None
    """published: values come from the lexicons alone, and those of participles from the treebank
    lexicon only if UniMorph has none; corrected: from the treebank's annotation, or from UniMorph
    if the annotation has none (section 4.2)."""
    contractions: Variant | None = None
    """published: the words of a contraction are written apart in the sentence ("de le");
    corrected: as in the treebank's text ("du"), and the words are not replaced unless the
    contraction is merely both words written together."""
    verb_types: Variant | None = None
    """published: agreement is counted over verbs and auxiliaries together; corrected: for each of
    the two, as section 4.2 says."""
    bonferroni: Variant | None = None
    """published: alpha is halved, whatever the number of tests; corrected: it is divided by the
    number of tests that the language has of the phenomenon (section 4.2)."""
    labels: Variant | None = None
    """published: a value that never agrees is undecided, however often it occurs. If it agrees in
    six cases or more, and in more than ``null_probability`` of all cases, it is near-universal
    without significance; corrected: the tests alone decide (section 4.2)."""
    marked_sentences: Variant | None = None
    """published: sentences with a corrected or code-switched word (MISC) are dropped too;
    corrected: only those that section 4.1 names."""
    subject_person: Variant | None = None
    """published: a subject without a person agrees with any person; corrected: nouns are third
    person, and so are pronouns other than personal and relative ones."""
    other_features: Variant | None = None
    """published: the form in a verb's place may differ in any feature that an entry leaves open;
    corrected: only in features of agreement, and readings that are rare in the treebank do not
    count."""
    right_forms: Variant | None = None
    """published: the form in a verb's place is wrong by the feature that was changed; corrected: it
    is wrong only if the lexicons don't have it as right for the subject in another mood or
    tense."""
    rare_readings: Variant | None = None
    """published: hapax readings near a far more frequent one of the form are dropped from the
    treebank lexicon; corrected: only rare forms are dropped, as section 3.2 says."""
    first_entry: Variant | None = None
    """published: the treebank lexicon's first entry is lost when it is read; corrected: it
    stays."""
    missing_words: Variant | None = None
    """published: lemmas and forms such as "nan" and "null" are lost, read as missing cells;
    corrected: they are words."""
    letter_case: Variant | None = None
    """published: words are looked up as they are written, so that capitalised verbs have no pairs
    and capitalised subjects ("Sie") are never ambiguous; "İ" in lower case has a second dot;
    corrected: in lower case too, by the language's rules (Turkish I is ı, and İ is i)."""
    capitals: Variant | None = None
    """published: a form in place of a capitalised one is lower-cased after its first letter
    ("McDonald" would be "Mcdonald"); corrected: the rest keeps its case, and in place of a form in
    capitals all letters are capitals."""
    scripts: Variant | None = None
    """published: diacritics, scripts and alternative forms are unified for the languages where the
    authors' runs did so; corrected: where appendix A.1 or plain correctness asks for it, and wrong
    forms of equal characters (Unicode's NFC) make one pair."""
    lost_statistics: Variant | None = None
    """published: no condition is dropped in the languages whose released numbers show that their
    agreement statistics were not applied (``untested`` in the table of languages); corrected: their
    tests decide too."""
    balance: Variant | None = None
    """published: the draw also balances the sentence and whether it has attractors; corrected: only
    the five traits of section 4.4."""
    memberships: Variant | None = None
    """published: a pair of several values ("3 -> 1|2") can be drawn in each of its conditions, and
    then occurs twice; a value such as "3IMP" counts as "3" too; corrected: a pair belongs only to
    the first condition that is kept, and values are compared as a whole."""
    mcnemar: Variant | None = None
    """published: McNemar's test is always chi-squared with continuity correction, as the p-values
    of Table B.2 are; corrected: exact binomial where two models differ on fewer than 25 pairs."""


class ExhibitOptions(Strict):
    """Choices of the contents of MultiBLiMP's exhibits."""

    table1_languages: tuple[str, ...] = ("nld", "tur")
    """Languages of Table 1; a campaign without these shows two of its languages that inflect."""
    table1_phenomenon: str = Field("sv#", pattern="^s[vp][#GP]$")
    """Agreement phenomenon that Table 1 shows."""
    figure2_language: Annotated[str, Field(pattern="^[a-z]{3}$")] | None = None
    """Language of the pair in Figure 2; null: English, or else the campaign's first language."""
    figure2_pair: Annotated[str, Field(pattern="^[0-9a-f]{16}$")] | None = None
    """Pair of Figure 2 (``item_id`` of the language's items); null: the smallest id among pairs of
    certain agreement in short sentences without attractors."""


class MultiblimpOptions(Strict):
    """MultiBLiMP's pairs: generated here, or those of the release."""

    items: Literal["regenerated", "released"] = "regenerated"
    """regenerated: made from treebanks and lexicons; released: the authors' pairs, without reading
    a treebank. Their draw had no seed, so only the released pairs give the paper's accuracies."""
    released: Literal["hub"] | Path = "hub"
    """Source of released items: the data set on the Hugging Face hub (``hub``; rows of kind
    ``multiblimp_data`` in the table of sources), or a directory with a ``LANG/data.tsv`` of each
    language, as ``blimpworks export multiblimp`` writes them."""
    variant: Variant = "published"
    """Behaviour of the authors' code, or of the paper's text where the two differ."""
    decisions: Decisions = Decisions()
    phenomena: Annotated[tuple[Phenomenon, ...], Field(min_length=1), AfterValidator(distinct)] = (
        get_args(Phenomenon)
    )
    """Agreement of a verb (sv) or participle (sp) with its subject in number (#), gender (G) or
    person (P)."""
    lexicon: LexiconOptions = LexiconOptions()
    agreement: AgreementOptions = AgreementOptions()
    sampling: SamplingOptions = SamplingOptions()
    methods: Methods = ("full_sentence",)
    """Methods that decide a pair: names, or ``name=expression`` for others (see docs/scoring.md);
    exhibits show the first (section 6)."""
    ties: TiePolicy | None = None
    """Policy for equal values; null: that of benchmark and variant (wrong, because the authors'
    comparison is strict)."""
    exhibits: ExhibitOptions = ExhibitOptions()

    @model_validator(mode="after")
    def _check_source_is_read(self) -> Self:
        if self.items == "regenerated" and self.released != "hub":
            raise ValueError(
                f"released is {str(self.released)!r}, but items is 'regenerated', which reads no "
                "released file; set items to 'released', or take released out"
            )
        return self


def variant_of(options: MultiblimpOptions, decision: str) -> Variant:
    """Return the variant of a decision: the one set for it, or else that of the campaign."""
    chosen: Variant | None = getattr(options.decisions, decision)
    return chosen or options.variant


def corrected(options: MultiblimpOptions, decision: str) -> bool:
    """Tell whether a decision (a field of ``Decisions``) is corrected."""
    return variant_of(options, decision) == "corrected"
