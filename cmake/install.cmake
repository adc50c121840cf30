# cmake --install: the program, the library, its public headers, and the files that let another CMake project say
# find_package(tril) and link tril::tril. examples/find_package is such a project.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(TRIL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tril)
install(TARGETS tril RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(module tril_fetch tril_mpi)
  if(TARGET ${module})
    install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tril)
  endif()
endforeach()
install(TARGETS tril_lib EXPORT trilTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY src/tril DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h"
  PATTERN "*_testing.h" EXCLUDE)
install(EXPORT trilTargets NAMESPACE tril:: DESTINATION ${TRIL_CMAKE_DIR})

configure_package_config_file(cmake/trilConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/trilConfig.cmake
  INSTALL_DESTINATION ${TRIL_CMAKE_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/trilConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/trilConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/trilConfigVersion.cmake
  cmake/find_dnnl.cmake DESTINATION ${TRIL_CMAKE_DIR})
