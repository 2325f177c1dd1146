"""The base of all settings, rows and records: typed, immutable, unknown keys refused."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Base of all settings: immutable, unknown keys refused.

    The docstrings of fields become descriptions in the schemas (see ``schemas.py``; having
    pydantic read them would cost each command a tenth of a second).
    """

    # Models are built when first used: most commands use a few of them.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)
