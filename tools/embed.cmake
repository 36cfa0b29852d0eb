# Files as text of the program: one file to copy, no data directory to find.
#
# slicewise_embed(TARGET NAMESPACE FILE...) makes the header "embedded/<last name of NAMESPACE>.hpp" for
# the sources of TARGET. In NAMESPACE it has a function for each file, named like it (page.js:
# page_js()), and all(): the files with their names, in the order given.
function(slicewise_embed target namespace)
  string(REGEX REPLACE ".*::" "" name ${namespace})
  set(bytes "  .section .rodata\n")
  set(stack "  .section .note.GNU-stack, \"\", %progbits\n")
  if(EMSCRIPTEN)
    set(bytes "  .section .rodata.${name}, \"\", @\n")
    set(stack "")
  endif()
  foreach(path IN LISTS ARGN)
    file(REAL_PATH ${path} path)
    get_filename_component(file ${path} NAME)
    string(MAKE_C_IDENTIFIER ${file} function)
    set(begin slicewise_${name}_${function}_begin)
    set(end slicewise_${name}_${function}_end)
    list(APPEND paths ${path})
    string(APPEND bytes "  .global ${begin}, ${end}\n"
      "${begin}:\n  .incbin \"${path}\"\n${end}:\n  .byte 0\n"
      "  .size ${begin}, ${end} - ${begin}\n  .size ${end}, 1\n")
    string(APPEND symbols "extern const char ${begin}[];\nextern const char ${end}[];\n")
    string(APPEND functions
      "inline std::string_view ${function}() { return {${begin}, ${end}}; }\n")
    string(APPEND entries "    File{\"${file}\", ${function}()},\n")
  endforeach()
  string(CONCAT header
    "// Made by tools/embed.cmake.\n#pragma once\n\n#include <array>\n#include <string_view>\n\n"
    "// NOLINTBEGIN(readability-identifier-naming)\nextern \"C\" {\n${symbols}}\n"
    "// NOLINTEND(readability-identifier-naming)\n\nnamespace ${namespace} {\n\n${functions}\n"
    "struct File {\n  std::string_view name;\n  std::string_view text;\n};\n\n"
    "inline auto all() {\n  return std::array{\n${entries}  };\n}\n\n}  // namespace ${namespace}\n")
  # Written only when they differ, so that nothing is compiled again.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${folder}/${name}.hpp CONTENT "${header}" @ONLY)
  file(CONFIGURE OUTPUT ${folder}/${name}.S
    CONTENT "${bytes}\n${stack}" @ONLY)
  set_source_files_properties(${folder}/${name}.S PROPERTIES OBJECT_DEPENDS "${paths}")
  target_sources(${target} PRIVATE ${folder}/${name}.S)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
