"""Conan 2 recipe of the checkout that it stands in.

  conan create packaging/conan --build=missing               protobuf and gRPC from Conan's own packages
  conan create packaging/conan -o 'harena/*:system_libs=True'   those of the system (Debian)
"""

import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt

SOURCES = ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "cmake/*", "cpp/*")


class HarenaConan(ConanFile):
    name = "harena"
    description = "Request-scoped memory for RPC services"
    license = "Apache-2.0"
    homepage = url = "https://github.com/harena-project/harena"
    topics = ("arena", "grpc", "memory", "protobuf", "rpc")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"grpc": [True, False], "system_libs": [True, False]}
    default_options = {"grpc": True, "system_libs": False}

    def set_version(self):
        text = load(self, Path(self.recipe_folder, "..", "..", "CMakeLists.txt"))
        self.version = re.search(r"project\(harena VERSION (\S+)", text).group(1)

    def export_sources(self):
        for pattern in SOURCES:
            copy(self, pattern, src=Path(self.recipe_folder, "..", ".."), dst=self.export_sources_folder)

    def requirements(self):
        if self.options.system_libs:
            return
        self.requires("protobuf/3.21.12", transitive_headers=True, transitive_libs=True)
        if self.options.grpc:
            self.requires("grpc/1.54.3", transitive_headers=True, transitive_libs=True)

    def build_requirements(self):
        if not self.options.system_libs:
            self.tool_requires("protobuf/<host_version>")

    def system_requirements(self):
        if self.options.system_libs:
            apt = Apt(self)
            apt.check(["libprotobuf-dev", "libprotoc-dev", "protobuf-compiler"])
            if self.options.grpc:
                apt.check(["libgrpc++-dev", "protobuf-compiler-grpc", "libabsl-dev"])

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Harena runs on Linux")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        if not self.options.system_libs:
            CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["HARENA_GRPC"] = bool(self.options.grpc)
        for name in ("BRPC", "TRPC", "LIVE", "PROMETHEUS", "CONFIG_YAML", "TESTS", "BENCHES", "EXAMPLES", "CCACHE",
                     "WERROR"):
            toolchain.cache_variables[f"HARENA_{name}"] = "OFF"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", src=self.source_folder, dst=Path(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        # Harena's own package has harena_generate(), which a generated one would not.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [str(Path("lib", "cmake", "harena"))]
        self.cpp_info.includedirs, self.cpp_info.libs = [], []
