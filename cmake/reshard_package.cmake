# reshard::reshard: all layers merged into one static library, the public headers, and a package that other projects
# find with find_package(reshard). Warnings, sanitizers and src/ stay behind.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(layers GLOBAL PROPERTY RESHARD_LAYERS)
get_property(links GLOBAL PROPERTY RESHARD_LINKS)
list(REMOVE_DUPLICATES links)
list(REMOVE_ITEM links nlohmann_json::nlohmann_json)  # headers only: nothing of it is left to link

set(objects)
foreach(layer IN LISTS layers)
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()
# Not called `reshard`: that is the command line's target.
add_library(reshard_library STATIC ${objects})
add_library(reshard::reshard ALIAS reshard_library)
set_target_properties(reshard_library PROPERTIES OUTPUT_NAME reshard EXPORT_NAME reshard LINKER_LANGUAGE CXX)
target_compile_features(reshard_library INTERFACE cxx_std_20)
target_include_directories(reshard_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(reshard_library PRIVATE ${links})
if(RESHARD_SANITIZE)
  target_link_options(reshard_library INTERFACE $<BUILD_INTERFACE:-fsanitize=${RESHARD_SANITIZE}>)
  set_target_properties(reshard_library PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# What a static library needs at the end of the link line of its users.
set(RESHARD_DEPENDENCIES)
foreach(link IN LISTS links)
  if(link MATCHES "^fmt::")
    list(APPEND RESHARD_DEPENDENCIES fmt)
  elseif(link STREQUAL "hwy::hwy")
    list(APPEND RESHARD_DEPENDENCIES hwy)
  elseif(link STREQUAL "yaml-cpp")
    list(APPEND RESHARD_DEPENDENCIES yaml-cpp)
  elseif(link STREQUAL "Threads::Threads")
    list(APPEND RESHARD_DEPENDENCIES Threads)
  elseif(link MATCHES "::")
    message(FATAL_ERROR "${link} is linked by a layer but cmake/reshard_package.cmake does not know which package "
                        "has it; add it to RESHARD_DEPENDENCIES there")
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/reshard)
configure_package_config_file(cmake/reshard-config.cmake.in ${PROJECT_BINARY_DIR}/reshard-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/reshard-config-version.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS reshard_library EXPORT reshard-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(DIRECTORY include/reshard DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(DIRECTORY models DESTINATION ${CMAKE_INSTALL_DATADIR}/reshard COMPONENT library FILES_MATCHING PATTERN "*.yaml")
install(EXPORT reshard-targets NAMESPACE reshard:: DESTINATION ${package_dir} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/reshard-config.cmake ${PROJECT_BINARY_DIR}/reshard-config-version.cmake
  DESTINATION ${package_dir} COMPONENT library)
