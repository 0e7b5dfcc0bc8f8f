# An overlay port: it builds the checkout that it stands in.
#   vcpkg install harena --overlay-ports=<checkout>/packaging/vcpkg/ports
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options FEATURES grpc HARENA_GRPC)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${feature_options}
    -DHARENA_BRPC=OFF
    -DHARENA_TRPC=OFF
    -DHARENA_LIVE=OFF
    -DHARENA_PROMETHEUS=OFF
    -DHARENA_CONFIG_YAML=OFF
    -DHARENA_TESTS=OFF
    -DHARENA_BENCHES=OFF
    -DHARENA_EXAMPLES=OFF
    -DHARENA_CCACHE=OFF
    -DHARENA_WERROR=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/harena)
vcpkg_copy_tools(TOOL_NAMES protoc-gen-harena AUTO_CLEAN)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
