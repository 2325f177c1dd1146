"""A command's entry points and packages, which decide its products."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """A command that makes products; their records name it under the key ``verb``."""

    name: str
    """Name such as ``judge``; with the values that decide its code, ``score vllm causal``."""
    entries: tuple[str, ...]
    """Functions and classes that it runs, as ``module:name``."""
    packages: tuple[str, ...] = ()
    """Distributions whose versions matter."""

    @property
    def code(self) -> str:
        """Digest of the code that its entries reach, as 16 hexadecimal digits."""
        from blimpworks.records.digest import code_digest

        return code_digest(*self.entries)

    def sources(self) -> dict[str, str]:
        """Return the SHA-256 of each module with code of the command, by the module's name."""
        from blimpworks.files import sha256_of
        from blimpworks.records.digest import module_path, reached_modules

        paths = {module: module_path(module) for module in reached_modules(*self.entries)}
        return {module: sha256_of(path) for module, path in paths.items() if path is not None}
