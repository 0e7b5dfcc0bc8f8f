"""Which files of an unpacked grpcio-tools archive are compiled, and into which library."""

import ast
import re
from pathlib import Path

PROTOBUF = "third_party/protobuf/src/google/protobuf/"
# protoc has one generator for each of these; the matrix needs that of C++ alone.
OTHER_LANGUAGES = ("csharp", "java", "kotlin", "objectivec", "php", "python", "ruby", "rust")
# Part of libprotobuf, as in protobuf's own build.
COMPILER_IN_LIBRARY = ("compiler/importer.cc", "compiler/parser.cc")
# libprotobuf has these, and protoc does without them, so the archive's list lacks them.
MORE = ("*.pb.cc", "json/*.cc", "json/internal/*.cc", "util/*.cc")
# What those use of Abseil, where protoc does not.
MORE_ABSEIL = ("third_party/abseil-cpp/absl/log/die_if_null.cc",)
TEST = re.compile(r"(test|unittest|test_util\w*|benchmark)\.cc$")


def listed(deps: str) -> tuple[list[str], list[str]]:
    """CC_FILES and CC_INCLUDES of the text of protoc_lib_deps.py, without running it."""
    found = {}
    for node in ast.parse(deps).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in ("CC_FILES", "CC_INCLUDES"):
                found[name] = ast.literal_eval(node.value)
    if len(found) != 2:
        raise ValueError("protoc_lib_deps.py: no CC_FILES or no CC_INCLUDES")
    return found["CC_FILES"], found["CC_INCLUDES"]


def split(files: list[str]) -> tuple[list[str], list[str]]:
    """The files of libprotobuf and those of libprotoc."""
    library, compiler = [], []
    for file in sorted(set(files)):
        name = file.removeprefix(PROTOBUF)
        if name == "compiler/main.cc" or file.startswith(("third_party/protobuf/upb", "third_party/upb")):
            continue  # protoc's main() is ours; upb is used by generators of other languages
        if name.startswith("compiler/") and name not in COMPILER_IN_LIBRARY:
            if name.split("/")[1] not in OTHER_LANGUAGES:
                compiler.append(file)
        else:
            library.append(file)
    return library, compiler


def more(archive: Path) -> list[str]:
    """What libprotobuf has beside what the archive lists."""
    found = []
    for pattern in MORE:
        found += [str(path.relative_to(archive)) for path in (archive / PROTOBUF).glob(pattern)]
    found += [file for file in MORE_ABSEIL if (archive / file).is_file()]
    return [file for file in found if not TEST.search(file)]


def write_lists(archive: Path, folder: Path) -> list[str]:
    """Writes the lists that CMakeLists.txt reads. Returns the include roots, relative to the archive."""
    files, includes = listed((archive / "protoc_lib_deps.py").read_text(encoding="utf-8"))
    library, compiler = split(files + more(archive))
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("protobuf", library), ("protoc", compiler)):
        (folder / f"sources_{name}.txt").write_text("".join(f"{file}\n" for file in content), encoding="utf-8")
    return includes
