# SPDX-License-Identifier: Apache-2.0
# How a layer, a test and a program of this project are declared.
#
#   coffer_layer(age SOURCES a.cc b.cc DEPS coffer_crypto)      -> library target coffer_age
#   coffer_test(age_test SOURCES a_test.cc DEPS coffer_age [LABELS slow threads])
#   coffer_test_at_levels(age_test)                             -> age_test/at_portable, /at_avx2
#   coffer_ct_test(age SOURCES age_ct.cc DEPS coffer_age [LEVELS avx2] [LEAKS branch index]
#                  [SUPPRESSIONS age_ct.supp])
#   coffer_fuzzer(header SOURCES header_fuzz.cc DEPS coffer_age)
#
# Labels: slow (left out under sanitizers), threads (the tests that ThreadSanitizer runs), ct (run
# under memcheck by the ct presets), interop (needs another tool), long (only in long runs).
# Each of threads and ct has a target that builds all its programs: threads_programs, ct_programs.
#
# Options live on the interface target coffer_options, never in global flags.

add_library(coffer_options INTERFACE)
target_compile_features(coffer_options INTERFACE cxx_std_20)
target_include_directories(coffer_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_options(coffer_options INTERFACE
  -Wall -Wextra -Wpedantic -Werror
  -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2 -Wundef -Wdouble-promotion
  -Wimplicit-fallthrough -Wextra-semi
  -fno-strict-aliasing -fstack-protector-strong
  # GCC 12 sees overlap in std::string where there is none (GCC bug 105651), and members of a
  # std::variant used before they are set; clang, memcheck and the sanitizers look for the latter.
  $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wno-restrict
    -Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wno-c99-extensions>)
target_compile_definitions(coffer_options INTERFACE
  _FILE_OFFSET_BITS=64 _GNU_SOURCE
  $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>
  COFFER_VERSION="${PROJECT_VERSION}")
target_link_options(coffer_options INTERFACE -Wl,-z,relro,-z,now)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(COFFER_SANITIZE "" CACHE STRING "Value for -fsanitize= (address,undefined or thread)")
if(COFFER_SANITIZE)
  target_compile_options(coffer_options INTERFACE
    -fsanitize=${COFFER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(coffer_options INTERFACE -fsanitize=${COFFER_SANITIZE})
endif()
set(COFFER_COVERAGE OFF CACHE BOOL "Instrument for coverage (clang only)")
if(COFFER_COVERAGE)
  target_compile_options(coffer_options INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(coffer_options INTERFACE -fprofile-instr-generate)
endif()
if(COFFER_CT_VALGRIND)
  target_compile_definitions(coffer_options INTERFACE COFFER_CT_VALGRIND=1)
  # Valgrind 3.19 stops at clang's DWARF 5.
  target_compile_options(coffer_options INTERFACE -gdwarf-4)
endif()
if(COFFER_FUZZ)
  target_compile_options(coffer_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(COFFER_CCACHE ccache)
if(COFFER_CCACHE)
  # A fresh clone elsewhere finds what this one compiled: paths are made relative to the source tree.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${COFFER_CCACHE}")
endif()

function(coffer_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(coffer_${name} STATIC ${arg_SOURCES})
  target_link_libraries(coffer_${name} PUBLIC coffer_options ${arg_DEPS})
endfunction()

foreach(label IN ITEMS ct threads)
  add_custom_target(${label}_programs)
endforeach()

# Makes the aggregate targets of `labels` build `target`.
function(coffer_add_to_label_targets target labels)
  foreach(label IN LISTS labels)
    if(TARGET ${label}_programs)
      add_dependencies(${label}_programs ${target})
    endif()
  endforeach()
endfunction()

function(coffer_test name)
  if(NOT COFFER_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE coffer_options ${arg_DEPS} GTest::gtest_main)
  coffer_add_to_label_targets(${name} "${arg_LABELS}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 NO_PRETTY_VALUES
    TEST_PREFIX "${name}/" PROPERTIES TIMEOUT 600)
  if(arg_LABELS)
    # gtest_discover_tests flattens lists, so that a second label would be taken for a property.
    # This file is read by ctest once the names of the tests are known.
    set(labels_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
    file(WRITE "${labels_file}"
      "if(${name}_TESTS)\n"
      "  set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${arg_LABELS}\")\n"
      "endif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${labels_file}")
  endif()
endfunction()

# Runs test programs once more as a whole under each cap of COFFER_CPU, so that every table of
# implementations is also tested as lesser machines choose from it: NAME/at_portable, NAME/at_avx2.
# Names of programs that are not built are passed over.
function(coffer_test_at_levels)
  foreach(name IN LISTS ARGN)
    if(NOT TARGET ${name})
      continue()
    endif()
    foreach(level IN ITEMS portable avx2)
      add_test(NAME ${name}/at_${level} COMMAND ${name} --gtest_brief=1)
      set_tests_properties(${name}/at_${level} PROPERTIES TIMEOUT 600
        ENVIRONMENT COFFER_CPU=${level})
    endforeach()
  endforeach()
endfunction()

# A program with its own main that marks secrets with ct::Poison and runs what must not depend on
# them. In the ct builds it becomes tests labelled ct, under memcheck, one for each of LEVELS, by
# default those whose vectors Valgrind can run; elsewhere it is not built. Each word of LEAKS makes one
# more test: the program gets it as its argument, leaks on purpose, and memcheck must say so.
# SUPPRESSIONS is a file of memcheck's on what is public in the code of others, each with its reason.
find_program(COFFER_VALGRIND valgrind)
function(coffer_ct_test name)
  if(NOT COFFER_TESTS OR NOT COFFER_CT_VALGRIND)
    return()
  endif()
  if(NOT COFFER_VALGRIND)
    message(FATAL_ERROR "the constant-time tests need valgrind")
  endif()
  cmake_parse_arguments(arg "" "SUPPRESSIONS" "SOURCES;DEPS;LEVELS;LEAKS" ${ARGN})
  if(NOT arg_LEVELS)
    set(arg_LEVELS portable avx2)
  endif()
  add_executable(${name}_ct ${arg_SOURCES})
  target_link_libraries(${name}_ct PRIVATE coffer_options ${arg_DEPS})
  add_dependencies(ct_programs ${name}_ct)
  set(memcheck "${COFFER_VALGRIND}" --quiet --error-exitcode=99 --track-origins=yes)
  if(arg_SUPPRESSIONS)
    list(APPEND memcheck "--suppressions=${CMAKE_CURRENT_SOURCE_DIR}/${arg_SUPPRESSIONS}")
  endif()
  foreach(level IN LISTS arg_LEVELS)
    add_test(NAME ct/${name}/${level} COMMAND ${memcheck} $<TARGET_FILE:${name}_ct>)
    set_tests_properties(ct/${name}/${level} PROPERTIES LABELS ct TIMEOUT 900
      ENVIRONMENT COFFER_CPU=${level})
  endforeach()
  foreach(leak IN LISTS arg_LEAKS)
    # A pass is memcheck's own sentence, not any failure.
    add_test(NAME ct/${name}/caught_${leak} COMMAND ${memcheck} $<TARGET_FILE:${name}_ct> ${leak})
    set_tests_properties(ct/${name}/caught_${leak} PROPERTIES LABELS ct TIMEOUT 900
      PASS_REGULAR_EXPRESSION "depends on uninitialised value|Use of uninitialised value")
  endforeach()
endfunction()
