# reshard_test(NAME region_test SOURCES region_test.cpp USES layout LABELS layout)
#
# A GoogleTest program. LABELS choose the lanes: `thread` and `fabric` run under the thread sanitizer, `exhaustive` is
# left out under the address sanitizer. THREAD_TESTS "Suite.*" are the only ones of a program that the thread sanitizer
# runs, where the rest has no threads.
# Programs that their lane would not run are not part of its build.
function(reshard_test)
  cmake_parse_arguments(TEST "" "NAME;THREAD_TESTS" "SOURCES;USES;LINKS;LABELS" ${ARGN})
  reshard_test_program(${TEST_NAME} ${TEST_SOURCES})
  list(TRANSFORM TEST_USES PREPEND reshard_)
  target_link_libraries(${TEST_NAME} PRIVATE ${TEST_USES} ${TEST_LINKS})
  if(NOT TEST_LABELS MATCHES "${RESHARD_TEST_LABELS}" OR (RESHARD_SANITIZE AND TEST_LABELS MATCHES "exhaustive"))
    set_target_properties(${TEST_NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  set(chosen "*")
  if(RESHARD_SANITIZE STREQUAL "thread" AND TEST_THREAD_TESTS)
    set(chosen ${TEST_THREAD_TESTS})
  endif()
  reshard_add_tests(NAME ${TEST_NAME} PROGRAM ${TEST_NAME} FILTER ${chosen} LABELS ${TEST_LABELS})
endfunction()

# reshard_add_tests(NAME multi_test.shm PROGRAM multi_test FILTER "*/shm_*" LABELS multi shm)
#
# Every TEST of a program that FILTER chooses is a ctest test of its own. With a sanitizer they are one ctest test
# together: a process takes longer to start than most tests. scripts/count_tests.py counts each.
function(reshard_add_tests)
  cmake_parse_arguments(ADDED "" "NAME;PROGRAM;FILTER" "LABELS" ${ARGN})
  if(RESHARD_SANITIZE)
    add_test(NAME ${ADDED_NAME} COMMAND ${ADDED_PROGRAM} --gtest_brief=1 --gtest_filter=${ADDED_FILTER})
    set_tests_properties(${ADDED_NAME} PROPERTIES LABELS "${ADDED_LABELS}" FAIL_REGULAR_EXPRESSION "PASSED  . 0 tests")
    return()
  endif()
  list(TRANSFORM ADDED_LABELS PREPEND "LABELS;")  # one property each: gtest_discover_tests drops all of a list but the first
  gtest_discover_tests(${ADDED_PROGRAM} TEST_FILTER ${ADDED_FILTER} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES ${ADDED_LABELS})
endfunction()

# reshard_test_program(NAME SOURCE..)
#
# The sources of one program are compiled together: file-local names occur once in it.
# What most programs include is compiled once, with the program reshard_test_headers, which does nothing.
function(reshard_test_program NAME)
  add_executable(${NAME} ${ARGN})
  reshard_test_options(${NAME})
  if(NOT TARGET reshard_test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cpp "int main() {}\n")
    add_executable(reshard_test_headers ${PROJECT_BINARY_DIR}/test_headers.cpp)
    reshard_test_options(reshard_test_headers)
    target_precompile_headers(reshard_test_headers PRIVATE <fmt/format.h> <fmt/ranges.h> <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  target_precompile_headers(${NAME} REUSE_FROM reshard_test_headers)
endfunction()

function(reshard_test_options NAME)
  set_target_properties(${NAME} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  target_compile_options(${NAME} PRIVATE -O1)  # compiles in 3/4 of the time; what is slow lies in the layers
  # GCC 12 sees these in its own string and function headers once they are precompiled.
  target_compile_options(${NAME} PRIVATE -Wno-array-bounds -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread)
  if(NOT TARGET reshard_test_flags)
    add_library(reshard_test_flags INTERFACE)
    # Undefined behaviour is looked for in what is tested: in the tests it costs as much to compile as all the rest.
    # Behind reshard_flags, which turns it on.
    if(RESHARD_SANITIZE MATCHES "undefined")
      target_compile_options(reshard_test_flags INTERFACE -fno-sanitize=undefined)
    endif()
    # A local name may be a file-local one of another file of the program.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(reshard_test_flags INTERFACE -Wno-shadow -Wshadow=local)
    endif()
  endif()
  target_link_libraries(${NAME} PRIVATE reshard_flags reshard_test_flags fmt::fmt GTest::gmock GTest::gtest_main)
endfunction()

# reshard_fuzz(NAME layout_text SOURCES layout_text.cpp USES layout)
#
# A libFuzzer target with its committed corpus in tests/fuzz/corpus/NAME. The preset `fuzz` builds the fuzzer,
# fuzz/fuzz_NAME; every other preset builds a program that replays the corpus once, as the test fuzz_replay.NAME.
function(reshard_fuzz)
  cmake_parse_arguments(FUZZ "" "NAME" "SOURCES;USES;LINKS" ${ARGN})
  if(NOT RESHARD_FUZZ AND NOT "fuzz" MATCHES "${RESHARD_TEST_LABELS}")
    return()
  endif()
  add_executable(fuzz_${FUZZ_NAME} ${FUZZ_SOURCES})
  list(TRANSFORM FUZZ_USES PREPEND reshard_)
  target_link_libraries(fuzz_${FUZZ_NAME} PRIVATE reshard_flags ${FUZZ_USES} ${FUZZ_LINKS})
  set_target_properties(fuzz_${FUZZ_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${FUZZ_NAME})
  if(NOT IS_DIRECTORY ${corpus})
    message(FATAL_ERROR "fuzz target ${FUZZ_NAME} has no corpus; commit at least one input in ${corpus}")
  endif()
  if(RESHARD_FUZZ)
    target_link_options(fuzz_${FUZZ_NAME} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(fuzz_${FUZZ_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
    add_test(NAME fuzz_replay.${FUZZ_NAME} COMMAND fuzz_${FUZZ_NAME} ${corpus})
    set_tests_properties(fuzz_replay.${FUZZ_NAME} PROPERTIES LABELS fuzz)
  endif()
endfunction()
