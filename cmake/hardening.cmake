# What a release build does against mistakes in it: guarded stack frames, checked copies, and tables of the linker that are
# read-only once the program runs. Code that reads files and options also checks indices of the standard library
# (TYTO_CHECKED); in the solvers that would be 6 to 11 % more instructions. And binaries that do not depend on the folder that
# they were built in.
include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
if(TYTO_HARDENING AND NOT TYTO_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "^Rel")  # sanitizers check more than this
  add_compile_options(-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  set(TYTO_CHECKED _GLIBCXX_ASSERTIONS)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_link_options(-Wl,-z,relro -Wl,-z,now)
  endif()
endif()
