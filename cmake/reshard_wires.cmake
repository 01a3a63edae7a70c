# reshard::openmpi, reshard::mpich, reshard::ucx: fabrics over a library that not every user has, or wants in the process
# (UCX watches all calls that map memory). Each is a library beside reshard::reshard, built where pkg-config finds what
# it needs; reshard_NAME_layer is the same for this project's own programs, beside layers.
#
# reshard_wire(NAME openmpi MODULE ompi-c OPTION RESHARD_MPI_openmpi SOURCES ucx/ucx_wire.cpp DEFINITIONS X)
#
# MODULE is what pkg-config knows the library by, OPTION leaves it out or insists on it. DEFINITIONS are for the sources
# and for users of the header. The result is in RESHARD_WIRE_NAME.
function(reshard_wire)
  cmake_parse_arguments(WIRE "" "NAME;MODULE;OPTION" "SOURCES;DEFINITIONS" ${ARGN})
  set(name reshard_${WIRE_NAME})
  set(needed PkgConfig::${name})
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(${name} QUIET IMPORTED_TARGET ${WIRE_MODULE})
  endif()
  option(${WIRE_OPTION} "Ranks that ${WIRE_NAME} connects" ${${name}_FOUND})
  set(RESHARD_WIRE_${WIRE_NAME} ${${WIRE_OPTION}} PARENT_SCOPE)
  if(NOT ${WIRE_OPTION})
    return()
  endif()
  list(TRANSFORM WIRE_SOURCES PREPEND ${PROJECT_SOURCE_DIR}/src/fabric/)
  add_library(${name}_objects OBJECT EXCLUDE_FROM_ALL ${WIRE_SOURCES})
  target_compile_definitions(${name}_objects PRIVATE ${WIRE_DEFINITIONS})
  target_link_libraries(${name}_objects PRIVATE reshard_flags fmt::fmt PUBLIC ${needed})

  add_library(${name}_layer STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}_objects>)
  target_link_libraries(${name}_layer PUBLIC reshard_fabric ${needed})
  add_library(${name} STATIC $<TARGET_OBJECTS:${name}_objects>)
  target_link_libraries(${name} INTERFACE reshard_library ${needed})
  foreach(library ${name}_layer ${name})
    set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
    target_compile_definitions(${library} INTERFACE ${WIRE_DEFINITIONS})
  endforeach()

  add_library(reshard::${WIRE_NAME} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${WIRE_NAME})
  if(RESHARD_SANITIZE)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  # An export of its own: users of the package need not have what this one needs.
  install(TARGETS ${name} EXPORT reshard-${WIRE_NAME}-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT library)
  install(EXPORT reshard-${WIRE_NAME}-targets NAMESPACE reshard:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reshard
    COMPONENT library)
endfunction()

# Without MPI's C++ bindings, which need a library of their own. Debian has both MPIs at once: the same sources are
# compiled against either <mpi.h>.
set(RESHARD_MPIS)
foreach(mpi openmpi:ompi-c mpich:mpich)
  string(REPLACE ":" ";" mpi ${mpi})
  list(GET mpi 0 name)
  list(GET mpi 1 module)
  reshard_wire(NAME ${name} MODULE ${module} OPTION RESHARD_MPI_${name} SOURCES mpi/mpi_wire.cpp mpi/mpi_world.cpp
    DEFINITIONS OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  if(RESHARD_WIRE_${name})
    list(APPEND RESHARD_MPIS ${name})
  endif()
endforeach()
reshard_wire(NAME ucx MODULE ucx OPTION RESHARD_UCX SOURCES ucx/ucx_wire.cpp ucx/ucx_worker.cpp ucx/ucx_world.cpp)
