# What the engine is made of where Emscripten makes it (tools/web/build): headers of the distribution, which
# suit any machine, and sources of Debian for what is compiled elsewhere. The rest of the tree finds them
# by the names that it knows.
enable_language(C)

# Native exceptions of WebAssembly, and the C++ library's headers of LLVM 16 for that of Emscripten 3.1.6,
# which is of LLVM 13 and lacks the algorithms of ranges; tools/web/library has what both lack.
add_compile_options(-fwasm-exceptions)
add_link_options(-fwasm-exceptions)
find_path(SLICEWISE_LIBCXX __algorithm/ranges_sort.h REQUIRED
  PATHS /usr/lib/llvm-16/include/c++/v1 NO_CMAKE_FIND_ROOT_PATH)
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-nostdinc++ \
-isystem ${CMAKE_CURRENT_LIST_DIR}/library -isystem ${SLICEWISE_LIBCXX}>")

# Not all of /usr/include: there is another C library.
set(headers ${PROJECT_BINARY_DIR}/include)
foreach(file boost/version.hpp CLI/CLI.hpp eigen3/Eigen/Core fmt/format.h nlohmann/json.hpp
    tl/expected.hpp toml++/toml.h)
  string(REGEX REPLACE "/.*" "" folder ${file})
  find_path(SLICEWISE_${folder} ${file} REQUIRED PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH)
  file(MAKE_DIRECTORY ${headers})
  file(CREATE_LINK ${SLICEWISE_${folder}}/${folder} ${headers}/${folder} SYMBOLIC)
endforeach()
include_directories(SYSTEM ${headers})

# slicewise_source(VARIABLE PATH SHA256): the folder of what an archive of Debian's holds.
function(slicewise_source variable path sha256)
  set(folder ${PROJECT_BINARY_DIR}/sources/${variable})
  get_filename_component(name ${path} NAME)
  if(NOT EXISTS ${folder})
    # What Debian has moved on from is in its archive of everything.
    set(archive ${PROJECT_BINARY_DIR}/sources/${name})
    foreach(server https://deb.debian.org/debian/pool/main
        https://snapshot.debian.org/archive/debian/20250520T000000Z/pool/main)
      file(DOWNLOAD ${server}/${path} ${archive} STATUS status)
      list(GET status 0 failed)
      if(NOT failed)
        break()
      endif()
    endforeach()
    file(SHA256 ${archive} found)
    if(NOT found STREQUAL sha256)
      file(REMOVE ${archive})
      message(FATAL_ERROR "${name} cannot be had (${status}) or is another one than expected")
    endif()
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${folder})
  endif()
  file(GLOB found ${folder}/*)
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
slicewise_source(yaml y/yaml-cpp/yaml-cpp_0.7.0+dfsg.orig.tar.xz
  dc63708605404e0b963e0ca3a9619d1c8270eda2839603e6fa0384e5e51e5312)
slicewise_source(zlib z/zlib/zlib_1.2.13.dfsg.orig.tar.bz2
  71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1)
slicewise_source(zstd libz/libzstd/libzstd_1.5.4+dfsg2.orig.tar.xz
  8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953)
slicewise_source(nettle n/nettle/nettle_3.8.1.orig.tar.gz
  364f3e2b77cd7dcde83fd7c45219c834e54b0c75e428b6f894a23d12dd41cbfe)

file(GLOB sources ${yaml}/src/*.cpp)
add_library(yaml-cpp STATIC ${sources})
target_include_directories(yaml-cpp SYSTEM PUBLIC ${yaml}/include)

set(sources adler32 crc32 inffast inflate inftrees zutil)
list(TRANSFORM sources REPLACE "(.+)" "${zlib}/\\1.c")
add_library(slicewise_zlib STATIC ${sources})
target_include_directories(slicewise_zlib SYSTEM PUBLIC ${zlib})

file(GLOB sources ${zstd}/lib/common/*.c ${zstd}/lib/decompress/*.c)
add_library(slicewise_zstd STATIC ${sources})
target_include_directories(slicewise_zstd SYSTEM PUBLIC ${zstd}/lib)

set(sources sha256 sha256-compress write-be32)
list(TRANSFORM sources REPLACE "(.+)" "${nettle}/\\1.c")
add_library(slicewise_nettle STATIC ${sources})
file(TOUCH ${nettle}/config.h)  # nothing of a machine's is made use of
file(CREATE_LINK ${nettle} ${headers}/nettle SYMBOLIC)

foreach(library ZLIB ZSTD NETTLE)
  string(TOLOWER slicewise_${library} target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  set(SLICEWISE_${library} ${target})
endforeach()
set(SLICEWISE_TOML_HEADERS ${headers})
foreach(target Eigen3::Eigen fmt::fmt-header-only nlohmann_json::nlohmann_json CLI11::CLI11
    Threads::Threads)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
endforeach()
set_target_properties(Eigen3::Eigen PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES ${headers}/eigen3)
set_target_properties(fmt::fmt-header-only PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
foreach(package Boost CLI11 CURL Eigen3 fmt nlohmann_json Threads yaml-cpp)
  set(redirect ${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/${package}Config)
  file(WRITE ${redirect}.cmake "")
  file(WRITE ${redirect}Version.cmake "set(PACKAGE_VERSION_COMPATIBLE TRUE)")
endforeach()
