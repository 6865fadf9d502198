# SPDX-License-Identifier: Apache-2.0
# How a fuzzer is declared, in fuzz/CMakeLists.txt.
#
#   coffer_fuzzer(header SOURCES header_fuzz.cc DEPS coffer_age)
#
# With COFFER_FUZZ the program is fuzz_header, linked with libFuzzer, built by fuzz_programs and
# named in build/<preset>/fuzzers.txt. Without it the same source is linked with a main that runs
# it once over each file of fuzz/corpus/header, as the ordinary test fuzz_replay_header.

add_custom_target(fuzz_programs)
file(WRITE "${CMAKE_BINARY_DIR}/fuzzers.txt" "")

function(coffer_fuzzer name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  set(corpus "${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name}")
  if(NOT IS_DIRECTORY "${corpus}")
    message(FATAL_ERROR "the fuzzer ${name} has no corpus: put at least one input into ${corpus}")
  endif()
  if(COFFER_FUZZ)
    add_executable(fuzz_${name} ${arg_SOURCES})
    target_link_libraries(fuzz_${name} PRIVATE coffer_options ${arg_DEPS} -fsanitize=fuzzer)
    add_dependencies(fuzz_programs fuzz_${name})
    file(APPEND "${CMAKE_BINARY_DIR}/fuzzers.txt" "${name}\n")
  elseif(COFFER_TESTS)
    add_executable(fuzz_replay_${name} ${arg_SOURCES} "${CMAKE_CURRENT_SOURCE_DIR}/replay_main.cc")
    target_link_libraries(fuzz_replay_${name} PRIVATE coffer_options ${arg_DEPS})
    add_test(NAME fuzz_replay_${name} COMMAND fuzz_replay_${name} "${corpus}")
    set_tests_properties(fuzz_replay_${name} PROPERTIES TIMEOUT 300)
  endif()
endfunction()
