#!/usr/bin/env python3
"""Builds a user's module from the Go modules as the next release would tag them.

  packaging/test/test_modules.py --go GO

A copy of this tree's committed files is prepared (tools/release.py), each module is laid out as a module proxy
would serve its tag, and a module outside requires them by version: no go.work, no replace line. Then `go install`
makes the tool, which has to tell its version.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import check_versions  # noqa: E402 (the path line above makes it importable)
import release  # noqa: E402

# What the commit before the release has no name for.
VERSION = "0.999.0"
TOOL = "go/cmd/harena"
PROGRAM = """package main

import (
	"fmt"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/harena-project/harena/go/adapters/connectgo"
	"github.com/harena-project/harena/go/adapters/grpcgo"
	"github.com/harena-project/harena/go/adapters/trpcgo"
	"github.com/harena-project/harena/go/arena"
	"github.com/harena-project/harena/go/pb"
)

func main() {
	a := arena.New()
	defer a.Free()
	m := arena.NewOf[wrapperspb.StringValue](a)
	err := pb.Unmarshal(a, []byte("\\n\\x02ok"), m)
	fmt.Println(m.GetValue(), err, grpcgo.Codec().Name(), connectgo.StreamHeap == trpcgo.StreamHeap)
}
"""


def export(folder: Path) -> None:
    """The files of HEAD, without what nobody committed."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)


def serve(tree: Path, module: str, version: str, proxy: Path) -> None:
    """Writes what a module proxy has of one version: .info, .mod and .zip."""
    path = check_versions.OURS + module
    served = proxy / path / "@v"
    served.mkdir(parents=True)
    (served / "list").write_text(f"{version}\n")
    (served / f"{version}.info").write_text(json.dumps({"Version": version, "Time": "2026-01-01T00:00:00Z"}))
    (served / f"{version}.mod").write_bytes((tree / module / "go.mod").read_bytes())
    others = [file.parent for file in (tree / module).rglob("go.mod") if file.parent != tree / module]
    with zipfile.ZipFile(served / f"{version}.zip", "w") as archive:
        for file in sorted((tree / module).rglob("*")):
            if file.is_file() and not any(other in file.parents for other in others):
                archive.write(file, f"{path}@{version}/{file.relative_to(tree / module)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--go", default="go")
    args = parser.parse_args()

    def go(*arguments: str, **more) -> str:
        return subprocess.run([args.go, *arguments], check=True, text=True, stdout=subprocess.PIPE, **more).stdout

    usual = json.loads(go("env", "-json", "GOPROXY", "GOMODCACHE"))
    with tempfile.TemporaryDirectory() as folder:
        tree, proxy, user = (Path(folder, name) for name in ("tree", "proxy", "user"))
        export(tree)
        release.prepare(tree, VERSION, "2026-01-01")
        modules = release.released_modules(tree)
        for module in modules:
            if module != TOOL:
                serve(tree, module, f"v{VERSION}", proxy)
        user.mkdir()
        (user / "go.mod").write_text(f"module example.org/user\n\ngo {go('env', 'GOVERSION').strip()[2:]}\n")
        (user / "main.go").write_text(PROGRAM)
        # What was downloaded before is served from there; what this test downloads is gone with its folder.
        environment = dict(os.environ, GOWORK="off", GOFLAGS="-mod=mod -modcacherw", GOMODCACHE=f"{folder}/cache",
                           GONOSUMDB=f"{check_versions.OURS}*",
                           GOPROXY=f"file://{proxy},file://{usual['GOMODCACHE']}/cache/download,{usual['GOPROXY']}")
        libraries = [module for module in modules if not release.is_program(tree, module)]
        go("get", *(f"{check_versions.OURS}{module}@v{VERSION}" for module in libraries), cwd=user, env=environment)
        said = go("run", ".", cwd=user, env=environment)

        # A program's tag is on a commit without replace lines, which `go install` refuses.
        drops = [f"-dropreplace={name}" for name in release.replaced(tree, TOOL)]
        go("mod", "edit", *drops, cwd=tree / TOOL, env=environment)
        serve(tree, TOOL, f"v{VERSION}", proxy)
        go("install", f"{check_versions.OURS}{TOOL}@v{VERSION}",
           env=dict(environment, GOFLAGS="-modcacherw", GOBIN=f"{folder}/bin"))
        told = subprocess.run([f"{folder}/bin/harena", "version"], check=True, text=True, stdout=subprocess.PIPE).stdout
    if said != "ok <nil> proto true\n":
        sys.exit(f"modules: the user's program says {said!r}")
    if not told.startswith(f"harena {VERSION}, built with go"):
        sys.exit(f"modules: `harena version` of what `go install` made says {told!r}")
    print(f"modules: a user's program was built from {len(libraries)} modules as tagged, and the tool installed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
