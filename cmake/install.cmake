# find_package(tyto) for others: the library, its public headers and a package file that finds what the library needs. And the
# program, with its manual page and completion. Two components, which become two Debian packages.
include(CMakePackageConfigHelpers)

install(TARGETS tyto EXPORT tyto-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libtyto-dev)
install(DIRECTORY include/tyto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libtyto-dev FILES_MATCHING PATTERN "*.h")
install(EXPORT tyto-targets NAMESPACE tyto:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tyto COMPONENT libtyto-dev)
configure_package_config_file(cmake/tyto-config.cmake.in tyto-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tyto)
write_basic_package_version_file(tyto-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tyto-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tyto-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tyto COMPONENT libtyto-dev)

if(TYTO_CLI)
  install(TARGETS tyto_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tyto)
  # Optional: a build of some targets only may lack them.
  install(FILES ${PROJECT_BINARY_DIR}/manual/tyto.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tyto OPTIONAL)
  install(FILES ${PROJECT_BINARY_DIR}/manual/tyto.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tyto
          COMPONENT tyto OPTIONAL)
  install(FILES ${PROJECT_BINARY_DIR}/manual/_tyto DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tyto OPTIONAL)
  install(FILES ${PROJECT_BINARY_DIR}/manual/tyto.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tyto
          OPTIONAL)
  install(FILES docs/cli.md docs/formats.md docs/report.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tyto)
  install(FILES LICENSE THIRD-PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tyto)
endif()

# cpack -G DEB in the build folder: tyto and libtyto-dev.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_VENDOR "Tyto")
  set(CPACK_PACKAGE_CONTACT "The Tyto authors <authors@tyto.example>")
  set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "https://tyto.example")
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
  set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_COMPONENTS_ALL libtyto-dev)
  if(TYTO_CLI)
    list(APPEND CPACK_COMPONENTS_ALL tyto)
  endif()
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_TYTO_PACKAGE_NAME tyto)
  set(CPACK_DEBIAN_TYTO_PACKAGE_SECTION science)
  set(CPACK_DEBIAN_TYTO_PACKAGE_SHLIBDEPS ON)
  set(CPACK_COMPONENT_TYTO_DESCRIPTION "OWL regression: the command line\n Fits, cross-validates and verifies sorted-L1 models, each answer with a certificate.")
  set(CPACK_DEBIAN_LIBTYTO-DEV_PACKAGE_NAME libtyto-dev)
  set(CPACK_DEBIAN_LIBTYTO-DEV_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_LIBTYTO-DEV_PACKAGE_DEPENDS "libeigen3-dev, libhwy-dev, libfmt-dev, libarchive-dev")
  set(CPACK_COMPONENT_LIBTYTO-DEV_DESCRIPTION "OWL regression: library and headers for C++\n For programs that link the static library libtyto.a.")
  include(CPack)
endif()
