#pragma once

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

// Tables for whatever reads Arrow, by its C data interface in PyCapsules: nothing of Arrow is
// linked. Source: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
namespace slicewise::python {

// The capsule "arrow_schema" of columns with these names: lists of as many None, bool, int, float
// or str. A column of ints and floats is one of floats.
nanobind::object arrow_schema(const std::vector<std::string>& names,
                              const std::vector<nanobind::list>& columns);

// The capsule "arrow_array_stream": one batch, whose buffers are given away, not copied.
nanobind::object arrow_stream(const std::vector<std::string>& names,
                              const std::vector<nanobind::list>& columns);

}  // namespace slicewise::python
