# reshard_layer(NAME base SOURCES a.cpp b.cpp USES layout plan LINKS fmt::fmt)
#
# One library per folder of src/. USES lists the layers it may call, so the linker and the include path follow the
# one-way table of docs/design/layers.md; scripts/check_includes.py checks the includes themselves. LINKS are third
# parties that stay private to the layer.
#
# What only this project's own targets use: warnings as errors, sanitizers, and the private headers in src/. It is
# never exported.
add_library(reshard_flags INTERFACE)
target_compile_options(reshard_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
# GCC 12 at -O3 sees a copy onto itself in its own std::string (GCC bug 105651).
target_compile_options(reshard_flags INTERFACE $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>)
target_include_directories(reshard_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
# The lanes compile the files of a layer together, which takes a third of the time: file-local names occur once in a
# layer. A type with members of file-local types is then seen in no second place.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(reshard_flags INTERFACE -Wno-subobject-linkage)
endif()
if(RESHARD_SANITIZE)
  target_compile_options(reshard_flags INTERFACE -fsanitize=${RESHARD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(reshard_flags INTERFACE -fsanitize=${RESHARD_SANITIZE})
endif()

function(reshard_layer)
  cmake_parse_arguments(LAYER "" "NAME" "SOURCES;USES;LINKS" ${ARGN})
  add_library(reshard_${LAYER_NAME} STATIC ${LAYER_SOURCES})
  list(TRANSFORM LAYER_USES PREPEND reshard_)
  target_link_libraries(reshard_${LAYER_NAME} PUBLIC ${LAYER_USES} PRIVATE reshard_flags ${LAYER_LINKS})
  set_property(GLOBAL APPEND PROPERTY RESHARD_LAYERS reshard_${LAYER_NAME})
  set_property(GLOBAL APPEND PROPERTY RESHARD_LINKS ${LAYER_LINKS})
endfunction()
