# reshard::openmpi and reshard::mpich: ranks as the processes of an MPI communicator, one library for each MPI that is
# there (Debian has both at once). The sources are the same, compiled against either <mpi.h>.
#
# RESHARD_MPIS: the names of those that are built. reshard_NAME_layer is for this project's own programs, beside layers.
set(RESHARD_MPIS)

function(reshard_mpi NAME MODULE)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(reshard_${NAME} QUIET IMPORTED_TARGET ${MODULE})
  endif()
  option(RESHARD_MPI_${NAME} "Ranks of ${NAME}" ${reshard_${NAME}_FOUND})
  if(NOT RESHARD_MPI_${NAME})
    return()
  endif()
  add_library(reshard_${NAME}_objects OBJECT EXCLUDE_FROM_ALL
    ${PROJECT_SOURCE_DIR}/src/fabric/mpi/mpi_wire.cpp ${PROJECT_SOURCE_DIR}/src/fabric/mpi/mpi_world.cpp)
  # Without MPI's C++ bindings, which need a library of their own: here, and where users include mpi_fabric.h.
  set(no_bindings OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_compile_definitions(reshard_${NAME}_objects PRIVATE ${no_bindings})
  target_link_libraries(reshard_${NAME}_objects PRIVATE reshard_flags fmt::fmt PUBLIC PkgConfig::reshard_${NAME})

  add_library(reshard_${NAME}_layer STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:reshard_${NAME}_objects>)
  set_target_properties(reshard_${NAME}_layer PROPERTIES LINKER_LANGUAGE CXX)
  target_compile_definitions(reshard_${NAME}_layer INTERFACE ${no_bindings})
  target_link_libraries(reshard_${NAME}_layer PUBLIC reshard_fabric PkgConfig::reshard_${NAME})

  add_library(reshard_${NAME} STATIC $<TARGET_OBJECTS:reshard_${NAME}_objects>)
  add_library(reshard::${NAME} ALIAS reshard_${NAME})
  set_target_properties(reshard_${NAME} PROPERTIES EXPORT_NAME ${NAME} LINKER_LANGUAGE CXX)
  if(RESHARD_SANITIZE)
    set_target_properties(reshard_${NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_compile_definitions(reshard_${NAME} INTERFACE ${no_bindings})
  target_link_libraries(reshard_${NAME} INTERFACE reshard_library PkgConfig::reshard_${NAME})
  # An export of its own: users of the package need not have this MPI.
  install(TARGETS reshard_${NAME} EXPORT reshard-${NAME}-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT library)
  install(EXPORT reshard-${NAME}-targets NAMESPACE reshard:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/reshard
    COMPONENT library)
  set(RESHARD_MPIS ${RESHARD_MPIS} ${NAME} PARENT_SCOPE)
endfunction()

reshard_mpi(openmpi ompi-c)
reshard_mpi(mpich mpich)
