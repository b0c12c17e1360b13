# How a folder of src/ becomes targets. One folder is one library; its CMakeLists.txt is a few calls:
#
#   mete_library(forecast SOURCES curve.cc DEPS base PACKAGES fmt::fmt)
#   mete_test(forecast SOURCES curve_test.cc)
#   mete_bench(forecast SOURCES curve_bench.cc)
#   mete_fuzz(document SOURCES job_file_fuzz.cc)
#   mete_binary(mete-runner SOURCES main.cc DEPS runner)
#
# DEPS are folders, which layers.toml allows or forbids (tools/tidy checks); PACKAGES are other people's libraries.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

set(METE_SANITIZE "" CACHE STRING "value of -fsanitize= for every target")
option(METE_FUZZ "build the fuzzers (needs clang)" OFF)

find_program(METE_CCACHE ccache)
if(METE_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${METE_CCACHE})
endif()

# Same seed and inputs give the same bytes: no fused multiply-add that one compiler makes and another does not.
add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers -ffp-contract=off)
# BOOST_ASIO_HAS_CO_AWAIT: Boost 1.74 does not recognise the coroutines of g++ 12 by itself.
add_compile_definitions(BOOST_ASIO_HAS_CO_AWAIT=1 BOOST_ASIO_NO_DEPRECATED SPDLOG_FMT_EXTERNAL)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fcoroutines)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wthread-safety)
endif()
if(METE_SANITIZE)
  add_compile_options(-fsanitize=${METE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${METE_SANITIZE})
  if(METE_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Asio has fences, which g++ says its thread sanitizer does not understand; what they order is also ordered by locks.
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(METE_SANITIZE STREQUAL "thread")
  # Asio's bare fences, which the thread sanitizer does not understand; its mutexes order the same things.
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
if(METE_FUZZ)
  # The libraries too: a fuzzer finds its way by the branches that it sees being taken.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined)
  add_link_options(-fsanitize=address,undefined)
endif()

function(mete_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PACKAGES" ${ARGN})
  string(REPLACE "/" "_" target ${name})
  if(ARG_SOURCES)
    add_library(mete_${target} STATIC ${ARG_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(mete_${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(mete_${target} ${scope} ${CMAKE_SOURCE_DIR}/src)
  mete_link(mete_${target} ${scope} "${ARG_DEPS}" "${ARG_PACKAGES}")
endfunction()

function(mete_link target scope deps packages)
  foreach(dep ${deps})
    string(REPLACE "/" "_" dep ${dep})
    target_link_libraries(${target} ${scope} mete_${dep})
  endforeach()
  target_link_libraries(${target} ${scope} ${packages} Threads::Threads)
endfunction()

# One test binary a folder; every TEST in it is a ctest case of its own only when it is slow enough to matter, so the
# binary is one ctest entry and gtest's filter picks single tests.
function(mete_test folder)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;PACKAGES;LABELS;ENVIRONMENT" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  add_executable(${name}_test ${ARG_SOURCES})
  mete_link(${name}_test PRIVATE "${folder};${ARG_DEPS}" "${ARG_PACKAGES};GTest::gmock;GTest::gtest_main")
  add_test(NAME ${name}_test COMMAND ${name}_test)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${name}_test PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "unit;${ARG_LABELS}"
                       ENVIRONMENT "METE_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};${ARG_ENVIRONMENT}")
endfunction()

# A bench prints one JSON object a line: {"suite","name","value","unit"}; `./dev bench SUITE` runs bench_SUITE.
function(mete_bench suite)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PACKAGES" ${ARGN})
  add_executable(bench_${suite} ${ARG_SOURCES})
  mete_link(bench_${suite} PRIVATE "${ARG_DEPS}" "${ARG_PACKAGES}")
endfunction()

function(mete_fuzz folder)
  if(NOT METE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PACKAGES" ${ARGN})
  foreach(source ${ARG_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    mete_link(${name} PRIVATE "${folder};${ARG_DEPS}" "${ARG_PACKAGES}")
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
    add_test(NAME ${name} COMMAND ${name} -max_total_time=20 -print_final_stats=1 -rss_limit_mb=2048)
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 120)
  endforeach()
endfunction()

function(mete_binary name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PACKAGES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  mete_link(${name} PRIVATE "${ARG_DEPS}" "${ARG_PACKAGES}")
endfunction()
