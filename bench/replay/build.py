"""From .proto files to the two programs: protoc, the choice of what to measure, CMake."""

import json
import shutil
import subprocess
from pathlib import Path

from programs import BenchError, Programs

ROOT = Path(__file__).resolve().parents[2]


class Harena:
    """A harena to build with: a build of its tree, or where it is installed."""

    def __init__(self, place):
        self.place = place.resolve()
        found = [path for path in (self.place / "bench/replay/harena_replay_prepare",
                                   self.place / "libexec/harena/harena_replay_prepare")
                 if path.exists()]
        if not found:
            raise BenchError(
                f"there is no harena in {self.place}: name a build (make build) or the prefix of an "
                "installation with --harena; harena_replay_prepare was not found in it")
        self.prepare = found[0]

    @classmethod
    def default(cls):
        """The build of this checkout, or the installation that this file is part of."""
        if (ROOT / "CMakePresets.json").exists():
            return cls(ROOT / "build/release")
        return cls(ROOT.parents[2])  # PREFIX/share/harena/replay

    def cmake_flags(self):
        """How CMake finds it."""
        if (self.place / "harenaConfig.cmake").exists():
            return [f"-Dharena_DIR={self.place}"]
        return [f"-DCMAKE_PREFIX_PATH={self.place}"]


def checked(command, what, **options):
    """Runs a command; its standard output. The error has its last words."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False, **options)
    except FileNotFoundError as error:
        raise BenchError(f"{what}: {command[0]} is not there") from error
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip())[-3000:]
        raise BenchError(f"{what}: {words}")
    return done.stdout


def import_dirs(protos, named):
    """Where imports are looked for: as named, else beside the files."""
    folders = named or [proto.parent for proto in protos]
    return list(dict.fromkeys(folder.resolve() for folder in folders))


def describe(protoc, protos, folders, out):
    """Writes the descriptors of the files and all that they import."""
    for proto in protos:
        if not proto.exists():
            raise BenchError(f"{proto} is not there (--proto)")
    checked([protoc, *(f"-I{folder}" for folder in folders), "--include_imports",
             f"--descriptor_set_out={out}", *(proto.resolve() for proto in protos)],
            "protoc does not take the .proto files (-I names where imports are found)")


def schemas_of(plan, folders):
    """The text that tells project/CMakeLists.txt which files to compile, and the types' names."""
    below = {folder: [] for folder in folders}
    for name in plan["files"]:
        folder = next((folder for folder in folders if (folder / name).exists()), None)
        if folder is None:
            raise BenchError(f"{name} is imported but in none of the directories of -I: add its own")
        below[folder].append(folder / name)
    lines = ["set(REPLAY_ROOTS " + " ".join(f'"{folder}"' for folder in folders) + ")"]
    for number, files in enumerate(below.values()):
        lines.append(f"set(REPLAY_PROTOS_{number} " + " ".join(f'"{file}"' for file in files) + ")")
    nothing = {"cpp": "::google::protobuf::Empty", "header": "google/protobuf/empty.pb.h"}
    for side in ("request", "response"):
        kind = plan[side] or nothing
        lines.append(f'set(REPLAY_{side.upper()} "{kind["cpp"]}")')
        lines.append(f'set(REPLAY_{side.upper()}_HEADER "{kind["header"]}")')
    return "\n".join(lines) + "\n"


def write_if_changed(path, text):
    """Leaves a file alone that says so already: what depends on it is then not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def build_programs(harena, schemas, folder, cxx, jobs):
    """Configures and builds; quick when nothing has changed."""
    folder.mkdir(parents=True, exist_ok=True)
    write_if_changed(folder / "schemas.cmake", schemas)
    command = ["cmake", "-S", ROOT / "bench/replay/project", "-B", folder,
               f"-DREPLAY_SCHEMAS={folder / 'schemas.cmake'}", *harena.cmake_flags()]
    if shutil.which("ninja") and not (folder / "Makefile").exists():
        command += ["-G", "Ninja"]
    if cxx:
        command.append(f"-DCMAKE_CXX_COMPILER={cxx}")
    checked(command, "the replay cannot be configured")
    checked(["cmake", "--build", folder, "-j", jobs], "the replay does not compile")
    return Programs(folder / "harena_replay", folder / "harena_replay_codec",
                    folder / "libharena_alloc_count.so", "the build did not make it")


def prepare(harena, options, descriptors, out):
    """Chooses what is measured; the plan as prepare_main.cc describes it."""
    command = [harena.prepare, options.capture, "--descriptors", descriptors, "--out", out,
               "--exchanges-max", options.exchanges_max]
    for flag in ("service_method", "request", "response"):
        if getattr(options, flag):
            command += [f"--{flag.replace('_', '-')}", getattr(options, flag)]
    return json.loads(checked(command, "nothing to replay"))


def types_of(program):
    """What a program's types can do."""
    return json.loads(checked([program, "--describe"], "the program does not run"))
