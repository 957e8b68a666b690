# The dependencies compiled from Debian's sources, for WebAssembly: there are no packages of them. tools/wasm_sources.sh
# puts the sources into RB_WASM_SOURCES.
set(RB_WASM_SOURCES "" CACHE PATH "folder that tools/wasm_sources.sh filled")
if(NOT EXISTS ${RB_WASM_SOURCES}/jansson/src/load.c)
  message(FATAL_ERROR "there are no sources of jansson in RB_WASM_SOURCES=\"${RB_WASM_SOURCES}\": build with tools/build_wasm.sh, "
    "which fetches them")
endif()
set(jansson ${RB_WASM_SOURCES}/jansson/src)
set(zstd ${RB_WASM_SOURCES}/zstd/lib)
set(qhull ${RB_WASM_SOURCES}/qhull/src)
set(suitesparse ${RB_WASM_SOURCES}/suitesparse)

# rb_add_wasm_source(NAME PATTERN...) adds Rattleback::<name> of the files that match; their warnings are not ours.
function(rb_add_wasm_source name)
  set(files "")
  foreach(pattern ${ARGN})
    file(GLOB found ${pattern})
    list(APPEND files ${found})
  endforeach()
  add_library(rb_wasm_${name} STATIC ${files})
  target_compile_options(rb_wasm_${name} PRIVATE -w -ffp-contract=off)
  set_target_properties(rb_wasm_${name} PROPERTIES C_EXTENSIONS ON)
  add_library(Rattleback::${name} ALIAS rb_wasm_${name})
endfunction()

file(WRITE ${PROJECT_BINARY_DIR}/jansson/jansson_config.h "#pragma once
#define JSON_INLINE inline
#define JSON_INTEGER_IS_LONG_LONG 1
#define JSON_HAVE_LOCALECONV 0
#define JSON_HAVE_ATOMIC_BUILTINS 0
#define JSON_HAVE_SYNC_BUILTINS 0
#define JSON_PARSER_MAX_DEPTH 2048
")
file(WRITE ${PROJECT_BINARY_DIR}/jansson/jansson_private_config.h "#pragma once
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_GETTIMEOFDAY 1
#define INITIAL_HASHTABLE_ORDER 3
")
rb_add_wasm_source(jansson ${jansson}/*.c)
target_include_directories(rb_wasm_jansson SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/jansson ${jansson})
target_compile_definitions(rb_wasm_jansson PRIVATE HAVE_STDINT_H=1)

rb_add_wasm_source(zstd ${zstd}/common/*.c ${zstd}/compress/*.c ${zstd}/decompress/*.c)
target_include_directories(rb_wasm_zstd SYSTEM PUBLIC ${zstd})
target_compile_definitions(rb_wasm_zstd PRIVATE ZSTD_DISABLE_ASM=1 ZSTD_LEGACY_SUPPORT=0)

rb_add_wasm_source(qhull ${qhull}/libqhull_r/*_r.c)
target_include_directories(rb_wasm_qhull SYSTEM PUBLIC ${qhull})

rb_add_wasm_source(amd ${suitesparse}/AMD/Source/*.c ${suitesparse}/SuiteSparse_config/SuiteSparse_config.c)
target_include_directories(rb_wasm_amd SYSTEM PUBLIC ${suitesparse}/AMD/Include ${suitesparse}/SuiteSparse_config)
target_compile_definitions(rb_wasm_amd PRIVATE DINT NTIMER NPRINT)
# Debian puts the headers into a folder of this name.
file(COPY ${suitesparse}/AMD/Include/amd.h ${suitesparse}/SuiteSparse_config/SuiteSparse_config.h
  DESTINATION ${PROJECT_BINARY_DIR}/amd/suitesparse)
target_include_directories(rb_wasm_amd SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/amd)
