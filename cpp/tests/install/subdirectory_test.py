#!/usr/bin/env python3
"""Builds and runs the project that docs/packages.md prints for users who build Harena themselves."""

import argparse
import re
import shutil
import sys
from pathlib import Path

from install_test import HERE, run

ROOT = HERE.parents[2]
PRINTED_BELOW = "## From source"
FETCH = """include(FetchContent)
FetchContent_Declare(harena SOURCE_DIR {root})
FetchContent_MakeAvailable(harena)"""
ADDED = "add_subdirectory(harena)"
# Configuring fails when the user's folder does not see a target that a layer's users link to.
EVERY_LAYER = """
foreach(layer {layers})
  add_executable(use_${{layer}} EXCLUDE_FROM_ALL {consumer}/use_${{layer}}.cc)
  target_link_libraries(use_${{layer}} PRIVATE harena::${{layer}})
endforeach()
if(NOT TARGET harena::protoc-gen-harena)
  message(FATAL_ERROR "there is no target harena::protoc-gen-harena, as find_package(harena) brings")
endif()
"""


def printed(page: str) -> str:
    """The CMakeLists.txt in the docs."""
    block = re.search(r"^```cmake\n(.*?)^```", page.partition(PRINTED_BELOW)[2], re.MULTILINE | re.DOTALL)
    if not block or ADDED not in block.group(1):
        sys.exit(f"docs/packages.md: the first ```cmake block below `{PRINTED_BELOW}` has no `{ADDED}`")
    return block.group(1)


def make_project(folder: Path, cmake_lists: str) -> None:
    """A user's project: that file, one .proto file, one program, the checkout in a folder."""
    folder.mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(cmake_lists, encoding="utf-8")
    (folder / "harena").symlink_to(ROOT)
    shutil.copy(HERE / "consumer/echo.proto", folder / "feed.proto")
    program = (HERE / "consumer/use_grpc.cc").read_text(encoding="utf-8")
    (folder / "service.cc").write_text(program.replace('#include "echo.', '#include "feed.'), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work-dir", type=Path, required=True, help="is emptied first")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("--layers", nargs="+", required=True)
    parser.add_argument("settings", nargs="*", help="-DNAME=VALUE for CMake, such as where brpc is")
    args = parser.parse_args()
    cmake_lists = printed((ROOT / "docs/packages.md").read_text(encoding="utf-8"))
    every_layer = EVERY_LAYER.format(layers=" ".join(args.layers), consumer=HERE / "consumer")

    shutil.rmtree(args.work_dir, ignore_errors=True)
    for name, text in (("added", cmake_lists),
                       ("fetched", cmake_lists.replace(ADDED, FETCH.format(root=ROOT)) + every_layer)):
        project = args.work_dir / name
        make_project(project, text)
        run(args.cmake, "-S", project, "-B", project / "build", "-G", "Ninja", *args.settings)
    build = args.work_dir / "added/build"
    run(args.cmake, "--build", build, "--target", "service", "--parallel", args.jobs)
    run(build / "service")


if __name__ == "__main__":
    main()
