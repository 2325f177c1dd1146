"""Write ``ro-crate-metadata.json``: a graph of a crate's files, jobs, commands, people, licences.

``write_graph`` adds an entity for each of them by ``Graph``, which uses the package rocrate. An
entity is a JSON object with ``@id``, ``@type`` and properties, which may refer to other entities:

    {"@id": "#job/results/scores", "@type": "CreateAction", "object": [{"@id": "items/eng.csv"}]}

The ``@id`` of a file in the crate is its path. For a file outside the crate that a job read or
wrote, it is ``#`` and the path. The vocabulary is that of RO-Crate 1.1 with the profiles in
texts.yaml. A job is one run of a command, of which a provenance record has all facts.
"""

import hashlib
import json
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rocrate.model import ContextEntity
from rocrate.rocrate import ROCrate

from blimpworks import __version__
from blimpworks.files import sha256_of
from blimpworks.interop.crate.tables import (
    AUTHOR,
    CODE,
    TEXTS,
    CratePlan,
    licence_name,
    licence_url,
)
from blimpworks.records.reading import Record

# RO-Crate 1.1 has no term for checksums; this one is from the vocabulary of workflow runs.
TERMS = {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}
WORKFLOW = "workflow/Snakefile"
COMPLETED = "http://schema.org/CompletedActionStatus"  # status of every job
Entity = Any
"""An entity of rocrate, which has no types."""


def _media_type(path: Path) -> str:
    media_type: str | None = TEXTS["media_types"].get(path.suffix)
    return media_type or mimetypes.guess_type(str(path))[0] or "text/plain"


def _single_or_list(values: Sequence[Any]) -> Any:
    return values[0] if len(values) == 1 else [*values]


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass
class Graph:
    """The entities of a crate."""

    root: Path
    plan: CratePlan
    paths: Mapping[Path, Path]
    """Path in the crate of each unchanged file of the results or the repository."""

    def __post_init__(self) -> None:
        self.crate = ROCrate(version="1.1")
        self.crate.metadata.extra_terms.update(TERMS)
        self._entities: dict[str, Entity] = {}

    def add(self, identifier: str, entity_type: str, **properties: Any) -> Entity:
        """Return the entity with this identifier; add it if the crate does not have it yet."""
        # A dictionary is faster: rocrate looks through all entities for one that is absent.
        if identifier not in self._entities:
            properties = {"@type": entity_type, **properties}
            entity = ContextEntity(self.crate, identifier, properties=properties)
            self._entities[identifier] = self.crate.add(entity)
        return self._entities[identifier]

    def licence(self, name: str) -> Entity:
        """Add a licence, identified by its SPDX page if it has one."""
        url = licence_url(name)
        address = {"url": url} if url else {}
        return self.add(url or f"#licence/{quote(name)}", "CreativeWork", name=name, **address)

    def author(self, text: str) -> Entity:
        """Add a person, "Name <https://orcid.org/…>", or an organization, "Name"."""
        match = AUTHOR.fullmatch(text)
        assert match is not None
        address, name = match["id"], match["name"]
        entity_type = "Person" if address else "Organization"
        return self.add(address or f"#author/{quote(name)}", entity_type, name=name)

    def copied(self, path: Path) -> Entity:
        """Return the entity of a file, given its path in the crate."""
        return self.crate.get(quote(path.as_posix()))

    def original(self, entry: Mapping[str, Any]) -> Entity:
        """Return the entity of a job's file: its copy in the crate, or one with its SHA-256."""
        path = Path(entry["path"])
        if path in self.paths:
            return self.copied(self.paths[path])
        name, row = self.plan.relative(path.as_posix()), self.plan.pinned.get(path)
        origin: dict[str, Any] = {}
        if row is not None:
            origin["license"] = self.licence(licence_name(row.licence))
        if row is not None and row.url:
            origin["url"] = row.url
        recorded = self.plan.jobs.entries[self.plan.jobs.key(path)]
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
            properties = {"name": name, "softwareVersion": version}
            if name == "python":
                page = version.replace(".", "")
                properties["url"] = f"https://www.python.org/downloads/release/python-{page}/"
            elif name != "blimpworks":
                properties["url"] = f"https://pypi.org/project/{name}/{version}/"
            identifier = properties.get("url", "#blimpworks")
            requirements.append(self.add(identifier, "SoftwareApplication", **properties))
        digest = _digest([record["verb"], record["code"], packages])
        return self.add(
            f"#command/{quote(record['verb'])}/{digest}",
            "SoftwareApplication",
            name=f"blimpworks {record['verb']}",
            softwareVersion=f"{packages.get('blimpworks', '')} (code {record['code']})",
            softwareRequirements=requirements,
        )

    def job(self, record: Record, agents: Any) -> Entity:
        """Add a job with inputs, products, parameters, command and times."""
        git, platform, relative = record["git"], record["host"]["platform"], self.plan.relative
        state = " with local changes" if git["clean"] is False else ""  # None: not known
        first_output = relative(record["outputs"][0]["path"])
        commit = f"Commit {git['commit'] or 'unknown'}{state}, on {platform}."
        notes = relative(json.dumps(record["notes"], ensure_ascii=False, sort_keys=True))
        params = []
        for name, value in record["params"].items():
            is_text = isinstance(value, str)
            text = relative(value if is_text else json.dumps(value, ensure_ascii=False))
            identifier = f"#parameter/{quote(name)}/{_digest(text)}"
            params.append(self.add(identifier, "PropertyValue", name=name, value=text))
        return self.add(
            f"#job/{quote(first_output.lstrip('/'))}",
            "CreateAction",
            name=f"{record['verb']}: {first_output}",
            description=f"{commit} Noted: {notes}",
            instrument=self.tool(record),
            object=_single_or_list([*map(self.original, record["inputs"]), *params]),
            result=_single_or_list([*map(self.original, record["outputs"])]),
            startTime=record["started"],
            endTime=record["ended"],
            agent=agents,
            actionStatus=COMPLETED,
        )

    def slot(self, name: str, meaning: str, files: Sequence[Entity]) -> Entity:
        """Add an input or output of the workflow, such as "sources"; link its files in this run."""
        slot = self.add(
            f"#workflow/{name}",
            "FormalParameter",
            name=name,
            description=meaning,
            additionalType="File",
            workExample=_single_or_list(files),
        )
        for file in files:
            file["exampleOfWork"] = slot
        return slot

    def content(self, path: Path) -> dict[str, str]:
        """Return size, media type and SHA-256 of a file by its path in the crate."""
        file = self.root / path
        return {
            "contentSize": str(file.stat().st_size),
            "encodingFormat": _media_type(path),
            "sha256": sha256_of(file),
        }

    def add_files(self, copies: Mapping[Path, Path]) -> None:
        """Add all files but the workflow; ``copies``: {CSV file: table that it was made from}."""
        originals = {path: original for original, path in self.paths.items()}
        for path in sorted(p.relative_to(self.root) for p in self.root.rglob("*") if p.is_file()):
            if path == Path(WORKFLOW):
                continue
            properties: dict[str, Any] = {"name": path.as_posix(), **self.content(path)}
            if path == Path("README.md"):
                properties["about"] = self.crate.root_dataset
            elif path in copies:
                properties["isBasedOn"] = self.original({"path": copies[path]})
            elif path in originals:
                properties["alternateName"] = self.plan.relative(originals[path].as_posix())
            self.crate.add_file(dest_path=path, properties=properties)


def write_graph(
    root: Path,
    plan: CratePlan,
    *,
    settings: Path,
    paths: Mapping[Path, Path],
    copies: Mapping[Path, Path],
) -> int:
    """Write the graph for the files below ``root``; return the number of entities.

    ``settings`` is the campaign file's path in the crate. ``paths`` is {file: path of its unchanged
    copy in the crate}; ``copies`` is as for ``Graph.add_files``.
    """
    graph, jobs = Graph(root, plan, paths), plan.jobs
    crate, records = graph.crate, [*jobs.by_output.values()]
    records.sort(key=lambda record: (record["started"], record["outputs"][0]["path"]))
    dataset, ended = crate.root_dataset, max(record["ended"] for record in records)
    graph.add_files(copies)

    # The workflow with its commands (several jobs may run one command), and its run by the authors.
    tools = {tool["@id"]: tool for tool in map(graph.tool, records)}
    properties = {
        "name": "blimpworks",
        "version": __version__,
        "license": graph.licence("Apache-2.0"),
        **graph.content(Path(WORKFLOW)),
        "hasPart": list(tools.values()),
    }
    workflow = crate.add_workflow(
        dest_path=WORKFLOW, main=True, lang="snakemake", properties=properties
    )
    agents = _single_or_list([graph.author(text) for text in plan.authors])
    actions = [graph.job(record, agents) for record in records]
    campaign = graph.copied(settings)
    # The run's inputs: files without the record of a job that made them, and downloaded files.
    inputs = [
        graph.original({"path": path})
        for path, record in plan.files.items()
        if not record or record["verb"] == "retrieve"
    ]
    exhibit_files = [path for path in paths.values() if path.parts[0] in ("exhibits", "published")]
    results = [*map(graph.copied, dict.fromkeys(exhibit_files))]
    workflow["input"] = [
        graph.slot("campaign", "Settings of the run.", [campaign]),
        graph.slot("sources", "Data from elsewhere.", inputs),
    ]
    workflow["output"] = graph.slot("exhibits", "Tables and figures.", results)
    run = graph.add(
        "#run",
        "CreateAction",
        name="The run of the whole workflow",
        description=f"{len(actions)} jobs. Root hash of their records: {jobs.root_hash()}.",
        instrument=workflow,
        object=[campaign, *inputs],
        result=_single_or_list(results),
        startTime=records[0]["started"],
        endTime=ended,
        agent=agents,
        actionStatus=COMPLETED,
    )
    dataset["mentions"] = [run, *actions]
    dataset["name"], dataset["description"] = plan.title, plan.campaign.description or plan.title
    dataset["author"] = dataset["publisher"] = agents
    dataset["license"] = _single_or_list([graph.licence(name) for name in (*plan.licences, CODE)])
    if citations := [f"{cited.text} {cited.address}".rstrip() for cited in plan.citations]:
        dataset["citation"] = _single_or_list(citations)
    # The date is that of the last job, so that the same results make the same crate.
    dataset["datePublished"] = ended[:10]
    dataset["conformsTo"] = [
        graph.add(url, "CreativeWork", name=name, version=url.rsplit("/", 1)[1])
        for url, name in TEXTS["profiles"].items()
    ]
    crate.metadata.write(root)
    return len(crate.get_entities())
