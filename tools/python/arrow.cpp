#include "arrow.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace nb = nanobind;

// The structures of the specification, by its names.
extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace slicewise::python {
namespace {

constexpr std::int64_t kNullable = 2;

// A column with the buffers of its layout: validity, and values or offsets and bytes.
struct Column {
  std::string name;
  const char* format = "n";
  std::int64_t length = 0;
  std::int64_t nulls = 0;
  std::vector<std::uint8_t> validity;
  std::vector<std::uint8_t> bits;
  std::vector<std::int64_t> numbers;  // also the offsets of texts
  std::vector<double> doubles;
  std::string text;
  std::vector<const void*> buffers;
};

void put_bit(std::vector<std::uint8_t>& bits, std::int64_t at, bool value) {
  const auto byte = static_cast<std::size_t>(at / 8);
  if (bits.size() <= byte) bits.resize(byte + 1);
  if (value)
    bits[byte] = static_cast<std::uint8_t>(bits[byte] | (1U << static_cast<unsigned>(at % 8)));
}

bool has_room(nb::handle integer) {
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  return overflow == 0;
}

// "b", "l", "g" or "U"; "n" where all are None.
const char* format_of(const nb::list& values) {
  bool bools = false;
  bool ints = false;
  bool floats = false;
  for (const nb::handle value : values) {
    if (value.is_none()) continue;
    if (PyBool_Check(value.ptr()) != 0) {
      bools = true;
    } else if (PyLong_Check(value.ptr()) != 0 && has_room(value)) {
      ints = true;
    } else if (PyFloat_Check(value.ptr()) != 0) {
      floats = true;
    } else {
      return "U";
    }
  }
  if (bools) return ints || floats ? "U" : "b";
  if (floats) return "g";
  return ints ? "l" : "n";
}

void append_text(nb::handle value, Column& column) {
  if (!value.is_none()) column.text += nb::str(value).c_str();
  column.numbers.push_back(static_cast<std::int64_t>(column.text.size()));
}

void append(nb::handle value, Column& column) {
  const std::int64_t at = column.length++;
  const bool none = value.is_none();
  put_bit(column.validity, at, !none);
  if (none) ++column.nulls;
  switch (*column.format) {
    case 'b':
      put_bit(column.bits, at, value.ptr() == Py_True);
      break;
    case 'l':
      column.numbers.push_back(none ? 0 : PyLong_AsLongLong(value.ptr()));
      break;
    case 'g':
      column.doubles.push_back(none ? 0 : PyFloat_AsDouble(value.ptr()));
      break;
    case 'U':
      append_text(value, column);
      break;
    default:
      break;
  }
}

Column column_of(const std::string& name, const nb::list& values) {
  Column column;
  column.name = name;
  column.format = format_of(values);
  if (*column.format == 'U') column.numbers.push_back(0);
  for (const nb::handle value : values) append(value, column);
  return column;
}

// The buffers of its layout, once it is where it stays.
void point_at_buffers(Column& column) {
  const void* const validity = column.nulls == 0 ? nullptr : column.validity.data();
  switch (*column.format) {
    case 'b':
      column.buffers = {validity, column.bits.data()};
      break;
    case 'l':
      column.buffers = {validity, column.numbers.data()};
      break;
    case 'g':
      column.buffers = {validity, column.doubles.data()};
      break;
    case 'U':
      column.buffers = {validity, column.numbers.data(), column.text.data()};
      break;
    default:
      column.buffers = {};
      break;
  }
}

// A struct and its children, which go with it.
template <class Arrow>
struct Owned {
  std::shared_ptr<const std::vector<Column>> columns;
  std::vector<Arrow> storage;
  std::vector<Arrow*> children;
  std::vector<const void*> no_validity = {nullptr};
};

template <class Arrow>
void release(Arrow* parent) {
  auto* const owned = static_cast<Owned<Arrow>*>(parent->private_data);
  for (Arrow* child : owned->children) {
    if (child->release != nullptr) child->release(child);
  }
  parent->release = nullptr;
  delete owned;
}

// A child that was moved out keeps the columns alive.
template <class Arrow>
void release_child(Arrow* child) {
  delete static_cast<std::shared_ptr<const std::vector<Column>>*>(child->private_data);
  child->release = nullptr;
}

template <class Arrow>
Owned<Arrow>* owned_by(const std::shared_ptr<const std::vector<Column>>& columns) {
  auto owned = std::make_unique<Owned<Arrow>>();
  owned->columns = columns;
  owned->storage.resize(columns->size());
  for (Arrow& child : owned->storage) {
    child = {};
    child.private_data = new std::shared_ptr<const std::vector<Column>>(columns);
    child.release = release_child<Arrow>;
    owned->children.push_back(&child);
  }
  return owned.release();
}

using Columns = std::shared_ptr<const std::vector<Column>>;

void fill_schema(const Columns& columns, ArrowSchema& out) {
  auto* const owned = owned_by<ArrowSchema>(columns);
  for (std::size_t n = 0; n < columns->size(); ++n) {
    owned->storage[n].format = (*columns)[n].format;
    owned->storage[n].name = (*columns)[n].name.c_str();
    owned->storage[n].flags = kNullable;
  }
  out = {};
  out.format = "+s";
  out.name = "";
  out.n_children = static_cast<std::int64_t>(columns->size());
  out.children = owned->children.data();
  out.release = release<ArrowSchema>;
  out.private_data = owned;
}

void fill_array(const Columns& columns, ArrowArray& out) {
  auto* const owned = owned_by<ArrowArray>(columns);
  for (std::size_t n = 0; n < columns->size(); ++n) {
    const Column& column = (*columns)[n];
    ArrowArray& child = owned->storage[n];
    child.length = column.length;
    child.null_count = column.nulls;
    child.n_buffers = static_cast<std::int64_t>(column.buffers.size());
    child.buffers = const_cast<const void**>(column.buffers.data());
  }
  out = {};
  out.length = columns->empty() ? 0 : columns->front().length;
  out.n_buffers = 1;
  out.buffers = owned->no_validity.data();
  out.n_children = static_cast<std::int64_t>(columns->size());
  out.children = owned->children.data();
  out.release = release<ArrowArray>;
  out.private_data = owned;
}

struct Batches {
  Columns columns;
  bool given = false;
};

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  fill_schema(static_cast<Batches*>(stream->private_data)->columns, *out);
  return 0;
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto* const batches = static_cast<Batches*>(stream->private_data);
  *out = {};
  if (!std::exchange(batches->given, true)) fill_array(batches->columns, *out);
  return 0;
}

const char* stream_error(ArrowArrayStream* /*stream*/) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Batches*>(stream->private_data);
  stream->release = nullptr;
}

// The capsule of a structure that who takes it marks as released.
template <class Arrow>
nb::object capsule(std::unique_ptr<Arrow> content, const char* name) {
  const auto destroy = [](PyObject* object) {
    auto* const arrow =
        static_cast<Arrow*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (arrow->release != nullptr) arrow->release(arrow);
    delete arrow;
  };
  return nb::steal(PyCapsule_New(content.release(), name, destroy));
}

Columns columns_of(const std::vector<std::string>& names, const std::vector<nb::list>& columns) {
  auto all = std::make_shared<std::vector<Column>>();
  for (std::size_t n = 0; n < names.size(); ++n) all->push_back(column_of(names[n], columns.at(n)));
  for (Column& column : *all) point_at_buffers(column);
  return all;
}

}  // namespace

nb::object arrow_schema(const std::vector<std::string>& names,
                        const std::vector<nb::list>& columns) {
  auto schema = std::make_unique<ArrowSchema>();
  fill_schema(columns_of(names, columns), *schema);
  return capsule(std::move(schema), "arrow_schema");
}

nb::object arrow_stream(const std::vector<std::string>& names,
                        const std::vector<nb::list>& columns) {
  auto stream = std::make_unique<ArrowArrayStream>();
  *stream = {stream_schema, stream_next, stream_error, release_stream,
             new Batches{columns_of(names, columns)}};
  return capsule(std::move(stream), "arrow_array_stream");
}

}  // namespace slicewise::python
