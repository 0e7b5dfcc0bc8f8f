#!/usr/bin/env python3
"""Writes what Harena is built from as CycloneDX 1.5 documents, one per language, and holds them valid.

  tools/sbom.py cpp --build-dir build/release --out out/sbom/harena-cpp.cdx.json FILE...
      FILE: the libraries (.a) and programs that are shipped, and examples that link them. The libraries
      that a program loads, and those that these load, are taken from the files themselves, the headers
      that were compiled in from Ninja; their versions from Debian's package database. A library that no
      package owns is named with its hash. What is vendored is named with its licence.
  tools/sbom.py go --go GO --out out/sbom/harena-go.cdx.json MODULE...
      The modules that the packages of these modules are compiled from, tests left out.
  tools/sbom.py check FILE...
      Only reads the documents and says what is wrong with them. The other two end with this, too.

The same inputs give the same document: its time is that of the last commit, or SOURCE_DATE_EPOCH.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import sbom_embedded  # noqa: E402 (the path line above makes it importable)
from check_versions import project_version  # noqa: E402

ROOT = Path(__file__).parents[1]
PROJECT = "pkg:github/harena-project/harena"
# What both languages' live pages are made of.
PAGE_VENDOR = ROOT / "go/live/page/vendor"
PAGE_LIBRARY = "libharena_live.a"


def output(*command, cwd=None, env=None) -> str:
    return subprocess.run([str(word) for word in command], check=True, text=True, cwd=cwd, env=env,
                          stdout=subprocess.PIPE).stdout


def time_of_sources() -> str:
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct", cwd=ROOT)
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def sha256(path: Path) -> list[dict]:
    return [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}]


def document(main: dict, components: dict[str, dict], edges: dict[str, set[str]], tools: list[dict]) -> dict:
    body = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time_of_sources(), "tools": {"components": tools}, "component": main},
        "components": [components[ref] for ref in sorted(components)],
        # A part without an entry: what it needs is not known by itself, only of the whole.
        "dependencies": [{"ref": ref, "dependsOn": sorted(edges[ref])} for ref in sorted(edges)],
    }
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    return {"$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
            "serialNumber": f"urn:uuid:{name}", **body}


# C++: what the linker put into the files.

def needed_by(path: Path) -> list[str]:
    return re.findall(r"\(NEEDED\) +Shared library: \[(.*?)\]", output("readelf", "-W", "-d", path))


def loaded_by(program: Path) -> dict[str, Path]:
    """The files behind all library names that this program, or a library of its, asks for."""
    found = re.findall(r"^\t(\S+) => (/\S+) ", output("ldd", program), flags=re.MULTILINE)
    return {name: Path(path) for name, path in found}


def debian_packages(paths: list[Path]) -> dict[Path, dict]:
    """The component of the package that owns each file; files that no package owns are left out."""
    # A package may name a file by a link, such as /lib, that leads to where the loader found it.
    names = {path: {str(path), str(path.resolve()), str(Path("/usr") / path.relative_to("/")),
                    str(path.resolve()).removeprefix("/usr")} for path in paths}
    asked = sorted(set().union(*names.values()))
    found = subprocess.run(["dpkg-query", "-S", *asked], text=True, capture_output=True, check=False).stdout
    owners = {line.rsplit(": ", 1)[1]: line.split(": ", 1)[0].split(",")[0] for line in found.splitlines()
              if ": /" in line and not line.startswith("diversion ")}
    owned = {path: next(owners[name] for name in names[path] if name in owners)
             for path in paths if names[path] & owners.keys()}
    fields = "${binary:Package}\t${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n"
    listed = output("dpkg-query", "-W", "-f", fields, *sorted(set(owned.values()))) if owned else ""
    release = re.search(r'^VERSION_ID="?([\d.]+)', Path("/etc/os-release").read_text("utf-8"), re.MULTILINE)
    distro = f"&distro=debian-{release.group(1)}" if release else ""
    components = {}
    for line in listed.splitlines():
        key, name, version, arch, source, source_version = line.split("\t")
        escaped = version.replace("+", "%2B").replace(":", "%3A")
        purl = f"pkg:deb/debian/{name}@{escaped}?arch={arch}{distro}"
        components[key] = components[name] = {
            "type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
            "properties": [{"name": "harena:source-package", "value": source},
                           {"name": "harena:source-version", "value": source_version}]}
    return {path: components[package] for path, package in owned.items()}


def library_components(files: dict[str, Path]) -> dict[str, dict]:
    """One component for each library name."""
    packages = debian_packages(list(files.values()))
    return {name: packages.get(path) or {
        "type": "library", "bom-ref": f"file:{name}", "name": name, "hashes": sha256(path),
        "properties": [{"name": "harena:note", "value": "no package owns this file: of unknown version"}]}
        for name, path in files.items()}


def used_by(build: Path, path: Path) -> list[dict]:
    """The components of others' work that a library or program of ours has in it, or was compiled with."""
    headers = sbom_embedded.headers_of(build, path.name.removeprefix("lib").removesuffix(".a"))
    packages = {part["bom-ref"]: part for part in debian_packages(headers).values()} if headers else {}
    parts = sbom_embedded.used_packages(list(packages.values()))
    return parts + ([sbom_embedded.vendored(PAGE_VENDOR)[0]] if path.name == PAGE_LIBRARY else [])


def cpp_document(build: Path, files: list[Path]) -> dict:
    version = project_version()
    main = {"type": "framework", "bom-ref": "harena-cpp", "name": "harena-cpp", "version": version,
            "purl": f"{PROJECT}@{version}", "licenses": [{"license": {"id": "Apache-2.0"}}]}
    components: dict[str, dict] = {}
    edges: dict[str, set[str]] = {main["bom-ref"]: set()}
    for path in files:
        ref = f"harena:{path.name}"
        shipped = path.suffix == ".a" or "examples" not in path.parts
        if shipped:
            components[ref] = {"type": "library" if path.suffix == ".a" else "application", "bom-ref": ref,
                               "name": path.name, "version": version, "hashes": sha256(path)}
            edges[main["bom-ref"]].add(ref)
            parts = used_by(build, path)
            components |= {part["bom-ref"]: part for part in parts}
            edges[ref] = {part["bom-ref"] for part in parts}
        if path.suffix == ".a":
            continue
        # A library layer is linked by its users: what a program of ours needs, the project needs.
        loaded = loaded_by(path)
        found = library_components(loaded)
        components |= {each["bom-ref"]: each for each in found.values()}
        start = ref if shipped else main["bom-ref"]
        edges.setdefault(start, set()).update(found[n]["bom-ref"] for n in needed_by(path) if n in found)
        for name, real in loaded.items():
            own = found[name]["bom-ref"]
            edges.setdefault(own, set()).update(
                found[n]["bom-ref"] for n in needed_by(real) if n in found and found[n]["bom-ref"] != own)
    cached = (build / "CMakeCache.txt").read_text("utf-8")
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cached, re.MULTILINE).group(1)
    tools = [{"type": "application", "name": Path(compiler).name,
              "version": output(compiler, "--version").split("\n", 1)[0]},
             {"type": "application", "name": "cmake", "version": output("cmake", "--version").split()[2]}]
    return document(main, components, edges, tools)


# Go: what the go command compiles.

def go_document(go: str, modules: list[str]) -> dict:
    env = dict(os.environ, GOWORK="off", GOFLAGS="-mod=readonly")
    version = project_version()
    main = {"type": "framework", "bom-ref": "harena-go", "name": "harena-go", "version": version,
            "purl": f"{PROJECT}@{version}", "licenses": [{"license": {"id": "Apache-2.0"}}]}
    go_version = output(go, "env", "GOVERSION", env=env).strip().removeprefix("go")
    std = f"pkg:golang/std@{go_version}"
    components = {std: {"type": "library", "bom-ref": std, "name": "std", "version": go_version, "purl": std}}
    edges: dict[str, set[str]] = {main["bom-ref"]: set()}
    for folder in modules:
        packages = output(go, "list", "-deps", "-json=ImportPath,Dir,EmbedFiles,Imports,Module,Standard", "./...",
                          cwd=ROOT / folder, env=env)
        owner: dict[str, str] = {}
        decoder, place, listed = json.JSONDecoder(), 0, []
        while place < len(packages.rstrip()):
            package, end = decoder.raw_decode(packages, place)
            place = end + len(packages[end:]) - len(packages[end:].lstrip())
            listed.append(package)
            module = package.get("Module")
            if package.get("Standard") or module is None:
                owner[package["ImportPath"]] = std
                continue
            # Our own modules carry no version yet: they are parts of the project.
            ours = module["Path"].startswith("github.com/harena-project/harena/")
            number = version if ours else module["Version"]
            ref = f"pkg:golang/{module['Path']}@{number}"
            owner[package["ImportPath"]] = ref
            components[ref] = {"type": "library", "bom-ref": ref, "name": module["Path"],
                               "version": number, "purl": ref}
            if ours:
                edges[main["bom-ref"]].add(ref)
                for folder in sorted({Path(package["Dir"], file).parent for file in package.get("EmbedFiles", ())}):
                    if folder.name == "vendor":
                        part = sbom_embedded.vendored(folder)[0]
                        components[part["bom-ref"]] = part
                        edges.setdefault(ref, set()).add(part["bom-ref"])
        for package in listed:
            start = owner[package["ImportPath"]]
            targets = {owner[name] for name in package.get("Imports", ()) if name in owner}
            edges.setdefault(start, set()).update(targets - {start})
    return document(main, components, edges, [{"type": "application", "name": "go", "version": go_version}])


def problems_of(bom: dict) -> list[str]:
    """What is wrong with a document: its form, names that lead nowhere, parts that nothing leads to."""
    problems = []
    if bom.get("bomFormat") != "CycloneDX" or bom.get("specVersion") != "1.5" or bom.get("version") != 1:
        problems.append("not a first version of a CycloneDX 1.5 document")
    if not re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bom.get("serialNumber", "")):
        problems.append("no serial number")
    main = bom.get("metadata", {}).get("component", {})
    parts = [main, *bom.get("components", ())]
    references = [part.get("bom-ref") for part in parts]
    vendor = sbom_embedded.vendored(PAGE_VENDOR)[0]["bom-ref"]
    if f"harena:{PAGE_LIBRARY}" in references and vendor not in references:
        problems.append(f"{PAGE_LIBRARY} embeds {vendor}, which is not listed")
    if len(parts) < 2:
        problems.append("no component")
    for part in parts:
        name = part.get("name") or "?"
        if not part.get("type") or not part.get("name") or not part.get("bom-ref"):
            problems.append(f"{name}: no type, name or bom-ref")
        if not part.get("version") and not part.get("hashes"):
            problems.append(f"{name}: neither version nor hash")
        if any(each["name"] == "harena:embedded" for each in part.get("properties", ())) and not part.get("licenses"):
            problems.append(f"{name}: is embedded, and has no licence here")
        if "purl" in part and not re.fullmatch(r"pkg:[a-z]+/[^@\s]+@[^@\s]+", part["purl"]):
            problems.append(f"{name}: `{part['purl']}` is no package URL")
    problems += [f"{ref}: stands there twice"
                 for ref in sorted({ref for ref in references if references.count(ref) > 1})]
    edges = {edge["ref"]: edge.get("dependsOn", []) for edge in bom.get("dependencies", ())}
    for ref, targets in edges.items():
        problems += [f"{ref}: depends on {to}, which is not listed" for to in targets if to not in references]
    reached, open_ends = set(), [main.get("bom-ref")]
    while open_ends:
        ref = open_ends.pop()
        if ref not in reached:
            reached.add(ref)
            open_ends += edges.get(ref, ())
    problems += [f"{ref}: nothing depends on it" for ref in references if ref not in reached]
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    cpp, go, check = (verbs.add_parser(name) for name in ("cpp", "go", "check"))
    cpp.add_argument("--build-dir", type=Path, required=True)
    cpp.add_argument("files", type=Path, nargs="+")
    go.add_argument("--go", default="go")
    go.add_argument("modules", nargs="+")
    for verb in (cpp, go):
        verb.add_argument("--out", type=Path, required=True)
    check.add_argument("files", type=Path, nargs="+")
    args = parser.parse_args()
    files = args.files if args.verb == "check" else [args.out]
    if args.verb != "check":
        bom = (cpp_document(args.build_dir, args.files) if args.verb == "cpp"
               else go_document(args.go, args.modules))
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(bom, indent=2) + "\n", encoding="utf-8")
    red = False
    for file in files:
        bom = json.loads(file.read_text(encoding="utf-8"))
        problems = problems_of(bom)
        red = red or bool(problems)
        for problem in problems:
            print(f"{file}: {problem}", file=sys.stderr)
        print(f"{file}: {len(bom.get('components', ()))} components, problems: {len(problems)}")
    return 1 if red else 0


if __name__ == "__main__":
    sys.exit(main())
