"""The graph of a crate: files, jobs, commands, software, parameters, people and licences.

Profiles: RO-Crate 1.1 with Process Run, Workflow Run and Provenance Run Crate 0.5 and Workflow
RO-Crate 1.0. A file of the crate is named by its path, a file outside by a local identifier
(``#path``), with its SHA-256.
"""

import hashlib
import json
import mimetypes
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocrate.model import ContextEntity, Person
from rocrate.rocrate import ROCrate

from blimpworks.audit.lineage import Jobs
from blimpworks.campaign.catalogue import Pinned
from blimpworks.files import sha256_of
from blimpworks.interop.crate.licences import licence_name, licence_url
from blimpworks.records.reading import Record

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
# Of the workflow run terms only this one is used; RO-Crate 1.1 has no checksum.
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
WORKFLOW = "workflow/Snakefile"
MEDIA_TYPES = {
    ".md": "text/markdown",
    ".parquet": "application/vnd.apache.parquet",
    ".tex": "application/x-tex",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
}
AUTHOR = re.compile(r"(?P<name>[^<>]+?)\s*(?:<(?P<id>https://orcid\.org/[\dX-]{19})>)?")
DONE = "http://schema.org/CompletedActionStatus"
Entity = Any
"""An entity of rocrate, which has no types."""


def _media_type(path: Path) -> str:
    if path.suffix == ".gz":
        return "application/gzip"
    return MEDIA_TYPES.get(path.suffix) or mimetypes.guess_type(str(path))[0] or "text/plain"


def _plainly(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else [*values]


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass
class Graph:
    """A crate's entities, added part by part."""

    root: Path
    jobs: Jobs
    places: Mapping[Path, Path]
    """Unchanged files of the results or repository, with their paths in the crate."""
    copies: Mapping[Path, Path]
    """Paths in the crate of changed copies, with their originals."""
    sources: Mapping[Path, Pinned]
    relative: Callable[[str], str]
    """Function that removes paths of this machine from a text."""

    def __post_init__(self) -> None:
        self.crate = ROCrate(version="1.1")
        self.crate.metadata.extra_terms.update(TERMS)
        self._known: dict[str, Entity] = {}

    @cached_property
    def records(self) -> list[Record]:
        """Records of the jobs, by their starts."""
        return self.jobs.in_order()

    def add(self, identifier: str, kind: str, **properties: Any) -> Entity:
        """Add a contextual entity of a ``kind`` (its @type), once, and return it."""
        # rocrate's own look-up walks through all entities when it finds none.
        if identifier not in self._known:
            entity = ContextEntity(self.crate, identifier, properties={"@type": kind, **properties})
            self._known[identifier] = self.crate.add(entity)
        return self._known[identifier]

    def licence(self, name: str) -> Entity:
        """Add a licence, by its SPDX page if it has one."""
        url = licence_url(name)
        address = {"url": url} if url else {}
        return self.add(url or f"#licence/{quote(name)}", "CreativeWork", name=name, **address)

    def author(self, text: str) -> Entity:
        """Add a person, "Name <https://orcid.org/…>", or an organization, "Name"."""
        match = AUTHOR.fullmatch(text)
        assert match is not None
        name = match["name"]
        if match["id"]:
            return self.crate.add(Person(self.crate, match["id"], properties={"name": name}))
        return self.add(f"#author/{quote(name)}", "Organization", name=name)

    def copied(self, place: Path) -> Entity:
        """Return a file of the crate."""
        return self.crate.get(quote(place.as_posix()))

    def original(self, entry: Mapping[str, Any]) -> Entity:
        """Add a file of a job: the crate's own, else with its SHA-256 alone."""
        path = Path(entry["path"])
        if path in self.places:
            return self.copied(self.places[path])
        name, row = self.relative(path.as_posix()), self.sources.get(path)
        origin: dict[str, Any] = {}
        if row is not None:
            origin = {"license": self.licence(licence_name(row.licence))}
            origin |= {"url": row.url} if row.url else {}
        recorded = self.jobs.entry(path)
        return self.add(
            f"#{quote(name.lstrip('/'))}",
            "File",
            name=name,
            sha256=recorded["sha256"],
            contentSize=str(recorded["bytes"]),
            encodingFormat=_media_type(path),
            **origin,
        )

    def tool(self, record: Record) -> Entity:
        """Add the command of a job, with the digest of its code and its packages."""
        packages, requirements = record["packages"], []
        for name, version in packages.items():
            url = f"https://pypi.org/project/{name}/{version}/"
            if name == "python":
                page = version.replace(".", "")
                url = f"https://www.python.org/downloads/release/python-{page}/"
            own = name == "blimpworks"
            properties = {"name": name, "softwareVersion": version} | ({} if own else {"url": url})
            identifier = "#blimpworks" if own else url
            requirements.append(self.add(identifier, "SoftwareApplication", **properties))
        which = _short([record["verb"], record["code"], packages])
        return self.add(
            f"#command/{quote(record['verb'])}/{which}",
            "SoftwareApplication",
            name=f"blimpworks {record['verb']}",
            softwareVersion=f"{packages.get('blimpworks', '')} (code {record['code']})",
            softwareRequirements=requirements,
        )

    def job(self, record: Record, agents: Sequence[Entity]) -> Entity:
        """Add a job: its inputs, products, command and times; jobs share equal parameters."""
        git, platform = record["git"], record["host"]["platform"]
        state = {True: "", False: " with local changes", None: ""}[git["clean"]]
        first = self.relative(record["outputs"][0]["path"])
        where = f"Commit {git['commit'] or 'unknown'}{state}, on {platform}."
        noted = self.relative(json.dumps(record["notes"], ensure_ascii=False, sort_keys=True))
        params = []
        for name, value in record["params"].items():
            is_text = isinstance(value, str)
            text = self.relative(value if is_text else json.dumps(value, ensure_ascii=False))
            identifier = f"#parameter/{quote(name)}/{_short(text)}"
            params.append(self.add(identifier, "PropertyValue", name=name, value=text))
        return self.add(
            f"#job/{quote(first.lstrip('/'))}",
            "CreateAction",
            name=f"{record['verb']}: {first}",
            description=f"{where} Noted: {noted}",
            instrument=self.tool(record),
            object=_plainly([*map(self.original, record["inputs"]), *params]),
            result=_plainly([*map(self.original, record["outputs"])]),
            startTime=record["started"],
            endTime=record["ended"],
            agent=_plainly(agents),
            actionStatus=DONE,
        )

    def slot(self, name: str, meaning: str, files: Sequence[Entity]) -> Entity:
        """Add an input or output of the workflow, with its files in this run."""
        slot = self.add(
            f"#workflow/{name}",
            "FormalParameter",
            name=name,
            description=meaning,
            additionalType="File",
            workExample=_plainly(files),
        )
        for file in files:
            file["exampleOfWork"] = slot
        return slot

    def add_files(self) -> None:
        """Add all files of the crate but the workflow."""
        changed = {target: original for original, target in self.places.items()}
        for path in sorted(p for p in self.root.rglob("*") if p.is_file()):
            place = path.relative_to(self.root)
            more: dict[str, Any] = {}
            if place == Path(WORKFLOW):
                continue
            if place == Path("README.md"):
                more = {"about": self.crate.root_dataset}
            elif place in self.copies:
                more = {"isBasedOn": self.original({"path": self.copies[place]})}
            elif place in changed:
                more = {"alternateName": self.relative(changed[place].as_posix())}
            named = {"name": place.as_posix(), **self.content(place), **more}
            self.crate.add_file(dest_path=place, properties=named)

    def content(self, place: Path) -> dict[str, str]:
        """Return size, media type and SHA-256 of a file of the crate."""
        path = self.root / place
        return {
            "contentSize": str(path.stat().st_size),
            "encodingFormat": _media_type(place),
            "sha256": sha256_of(path),
        }

    def add_run(
        self,
        version: str,
        authors: Sequence[str],
        campaign: Path,
        sources: Sequence[Path],
        exhibits: Sequence[Path],
    ) -> list[Entity]:
        """Add the workflow with its commands, and its run by the authors; return these."""
        tools = {tool["@id"]: tool for tool in map(self.tool, self.records)}
        properties = {
            "name": "blimpworks",
            "version": version,
            "license": self.licence("Apache-2.0"),
            **self.content(Path(WORKFLOW)),
            "hasPart": list(tools.values()),
        }
        workflow = self.crate.add_workflow(
            dest_path=WORKFLOW, main=True, lang="snakemake", properties=properties
        )
        agents = [self.author(text) for text in authors]
        actions = [self.job(record, agents) for record in self.records]
        settings = self.copied(campaign)
        inputs = [self.original({"path": path}) for path in sources]
        results = [*map(self.copied, exhibits)]
        workflow["input"] = [
            self.slot("campaign", "Settings of the run.", [settings]),
            self.slot("sources", "Data from elsewhere.", inputs),
        ]
        workflow["output"] = self.slot("exhibits", "Tables and figures.", results)
        root_hash = self.jobs.root_hash()
        run = self.add(
            "#run",
            "CreateAction",
            name="The run of the whole workflow",
            description=f"{len(actions)} jobs. Root hash of their records: {root_hash}.",
            instrument=workflow,
            object=[settings, *inputs],
            result=_plainly(results),
            startTime=min(record["started"] for record in self.records),
            endTime=max(record["ended"] for record in self.records),
            agent=_plainly(agents),
            actionStatus=DONE,
        )
        self.crate.root_dataset["mentions"] = [run, *actions]
        return agents


def write_graph(
    graph: Graph,
    title: str,
    description: str,
    version: str,
    authors: Sequence[str],
    citations: Sequence[str],
    licences: Sequence[str],
    campaign: Path,
    sources: Sequence[Path],
    exhibits: Sequence[Path],
) -> int:
    """Write ``ro-crate-metadata.json`` for ``graph.root``; return the number of entities.

    ``campaign`` and ``exhibits`` are paths in the crate, ``sources`` the files from elsewhere.
    """
    graph.add_files()
    agents = graph.add_run(version, authors, campaign, sources, exhibits)
    root = graph.crate.root_dataset
    root["name"], root["description"] = title, description
    root["author"] = root["publisher"] = _plainly(agents)
    root["license"] = _plainly([graph.licence(name) for name in licences])
    if citations:
        root["citation"] = _plainly(citations)
    # Not today's date: the same results make the same crate.
    root["datePublished"] = max(record["ended"] for record in graph.records)[:10]
    root["conformsTo"] = [
        graph.add(url, "CreativeWork", name=name, version=url.rsplit("/", 1)[1])
        for url, name in PROFILES.items()
    ]
    graph.crate.metadata.write(graph.root)
    return len(graph.crate.get_entities())
