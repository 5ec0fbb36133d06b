# find_package(tyto) for others: the library, its headers and a package file that finds what the library needs.
include(CMakePackageConfigHelpers)

install(TARGETS tyto EXPORT tyto-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TYTO_CLI)
  install(TARGETS tyto_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY src/tyto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT tyto-targets NAMESPACE tyto:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tyto)
configure_package_config_file(cmake/tyto-config.cmake.in tyto-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tyto)
write_basic_package_version_file(tyto-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tyto-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/tyto-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tyto)
