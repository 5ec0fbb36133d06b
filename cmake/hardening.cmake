# What a release build does against mistakes in it: checked indices of the standard library, guarded stack frames, checked
# copies, and tables of the linker that are read-only once the program runs. And binaries that do not depend on the folder
# that they were built in.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
if(TYTO_HARDENING AND NOT TYTO_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "^Rel")  # sanitizers check more than this
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_link_options(-Wl,-z,relro -Wl,-z,now)
  endif()
endif()
