# SPDX-License-Identifier: Apache-2.0
# Tests over corpora of test vectors that live outside this repository.
#
#   coffer_vector_test(name SOURCES a_test.cc DEPS coffer_x CORPUS wycheproof [LABELS slow])
#
# The directory that holds the corpora, one directory each, is COFFER_VECTORS (a CMake variable, or
# the environment's), else ../shared/vectors beside the source tree. Tests are compiled with it as
# COFFER_VECTORS_DIR, and COFFER_VECTORS in the environment of a run goes before that: see
# coffer/base/testing/corpus.h.
#
# Rule: where CI=true or COFFER_VECTORS is set, a missing corpus fails, here or in the run. In a
# clone that has no corpora these tests are not made; coffer_report_missing_corpora says so at the
# end, and leaves one test that fails if it is run with CI=true or COFFER_VECTORS after all.

set(COFFER_VECTORS "$ENV{COFFER_VECTORS}" CACHE PATH "Directory of the test vector corpora")
if(NOT COFFER_VECTORS AND DEFINED ENV{COFFER_VECTORS})
  set_property(CACHE COFFER_VECTORS PROPERTY VALUE "$ENV{COFFER_VECTORS}")
endif()
if(COFFER_VECTORS)
  set(coffer_vectors_dir "${COFFER_VECTORS}")
else()
  cmake_path(SET coffer_vectors_dir NORMALIZE "${PROJECT_SOURCE_DIR}/../shared/vectors")
endif()

function(coffer_vector_test name)
  cmake_parse_arguments(arg "" "CORPUS" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT COFFER_TESTS)
    return()
  endif()
  if(NOT IS_DIRECTORY "${coffer_vectors_dir}/${arg_CORPUS}")
    if(COFFER_VECTORS OR "$ENV{CI}" STREQUAL "true")
      message(SEND_ERROR "${name}: there is no corpus ${arg_CORPUS} in ${coffer_vectors_dir}; "
        "set COFFER_VECTORS to the directory that has it")
    endif()
    set_property(GLOBAL APPEND PROPERTY COFFER_MISSING_CORPORA "${arg_CORPUS}")
    return()
  endif()
  coffer_test(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS} LABELS ${arg_LABELS})
  target_compile_definitions(${name} PRIVATE COFFER_VECTORS_DIR="${coffer_vectors_dir}")
endfunction()

# To be called once, when all tests have been declared.
function(coffer_report_missing_corpora)
  get_property(missing GLOBAL PROPERTY COFFER_MISSING_CORPORA)
  list(REMOVE_DUPLICATES missing)
  # For scripts/test, which names them in its last lines.
  list(TRANSFORM missing APPEND "\n" OUTPUT_VARIABLE lines)
  list(JOIN lines "" lines)
  file(WRITE "${CMAKE_BINARY_DIR}/missing_corpora.txt" "${lines}")
  if(NOT missing)
    return()
  endif()
  list(JOIN missing " " missing)
  message(WARNING "tests left out for want of their vectors: ${missing}; "
    "set COFFER_VECTORS to the directory that has them")
  add_test(NAME missing_corpora
    COMMAND sh -c "if [ \"$CI\" = true ] || [ -n \"$COFFER_VECTORS\" ]; then
      echo \"configured without the corpora: ${missing}\" >&2; exit 1; fi")
endfunction()
