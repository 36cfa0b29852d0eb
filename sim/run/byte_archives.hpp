#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "slicewise/units.hpp"

// Records as bytes for another process of the same build. Numbers go in one by one, by value: there
// are no bytes but theirs, and small ones take few. All else says what it is made of, by
// visit_parts(archive, record).
namespace slicewise::sim {

template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;

// Seven bits to a byte, the lowest first, the highest bit of each but the last one set.
inline constexpr unsigned kBitsOfByte = 7;
inline constexpr std::uint64_t kMoreBytes = std::uint64_t{1} << kBitsOfByte;

// Numbers around zero as small ones: 0, -1, 1, -2, 2 ...
template <WholeNumber T>
constexpr std::uint64_t folded(T number) {
  if constexpr (std::is_unsigned_v<T>) {
    return number;
  } else {
    const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    return number < 0 ? ~(bits << 1U) : bits << 1U;
  }
}
template <WholeNumber T>
constexpr T unfolded(std::uint64_t bits) {
  if constexpr (std::is_unsigned_v<T>) {
    return static_cast<T>(bits);
  } else {
    return static_cast<T>((bits & 1U) != 0 ? ~(bits >> 1U) : bits >> 1U);
  }
}

class ByteWriter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (add(values), ...);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  void add(T& value) {
    if constexpr (WholeNumber<T>) {
      add_bits(folded(value));
    } else if constexpr (std::is_enum_v<T>) {
      add_bits(folded(static_cast<std::underlying_type_t<T>>(value)));
    } else if constexpr (std::same_as<T, bool>) {
      bytes_ += value ? '\1' : '\0';
    } else if constexpr (std::same_as<T, double>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      visit_parts(*this, value);
    }
  }

  void add(std::string& text) {
    add_bits(text.size());
    bytes_ += text;
  }

  // Histograms are zeros for the most part: how many there are before each other number.
  template <WholeNumber T>
  void add(std::vector<T>& list) {
    add_bits(list.size());
    std::size_t zeros = 0;
    for (const T number : list) {
      if (number == 0 && ++zeros != 0) continue;
      add_bits(zeros);
      add_bits(folded(number));
      zeros = 0;
    }
    if (zeros > 0) add_bits(zeros);
  }

  template <class T>
  void add(std::vector<T>& list) {
    add_bits(list.size());
    for (T& value : list) add(value);
  }

  template <class T>
  void add(std::optional<T>& value) {
    bool is_there = value.has_value();
    add(is_there);
    if (is_there) add(*value);
  }

  void add_bits(std::uint64_t rest) {
    for (; rest >= kMoreBytes; rest >>= kBitsOfByte) {
      bytes_ += static_cast<char>((rest % kMoreBytes) | kMoreBytes);
    }
    bytes_ += static_cast<char>(rest);
  }

  std::string bytes_;
};

// Reads what a ByteWriter wrote of the same things. Throws std::runtime_error where there is less.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (take(values), ...);
  }

 private:
  template <class T>
  void take(T& value) {
    if constexpr (WholeNumber<T>) {
      value = unfolded<T>(take_bits());
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(unfolded<std::underlying_type_t<T>>(take_bits()));
    } else if constexpr (std::same_as<T, bool>) {
      value = take_bytes(1).front() != '\0';
    } else if constexpr (std::same_as<T, double>) {
      std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
    } else {
      visit_parts(*this, value);
    }
  }

  void take(std::string& text) { text = take_bytes(take_bits()); }

  template <WholeNumber T>
  void take(std::vector<T>& list) {
    constexpr std::uint64_t kLongestList = std::uint64_t{1} << 31U;  // what is longer is damaged
    const std::uint64_t size = take_bits();
    if (size > kLongestList) throw too_little();
    list.assign(static_cast<std::size_t>(size), 0);
    for (std::size_t n = 0; n < list.size(); ++n) {
      const std::uint64_t zeros = take_bits();
      if (zeros > list.size() - n) throw too_little();
      n += static_cast<std::size_t>(zeros);
      if (n < list.size()) list[n] = unfolded<T>(take_bits());
    }
  }

  template <class T>
  void take(std::vector<T>& list) {
    const std::uint64_t size = take_bits();
    if (size > bytes_.size()) throw too_little();  // each takes a byte at least
    list.resize(static_cast<std::size_t>(size));
    for (T& value : list) take(value);
  }

  template <class T>
  void take(std::optional<T>& value) {
    bool is_there = false;
    take(is_there);
    value.reset();
    if (is_there) take(value.emplace());
  }

  std::uint64_t take_bits() {
    std::uint64_t bits = 0;
    constexpr unsigned kBits = 64;
    for (unsigned at = 0; at < kBits; at += kBitsOfByte) {
      const auto byte = static_cast<std::uint8_t>(take_bytes(1).front());
      bits |= (byte % kMoreBytes) << at;
      if (byte < kMoreBytes) return bits;
    }
    throw too_little();
  }

  std::string_view take_bytes(std::uint64_t count) {
    if (bytes_.size() < count) throw too_little();
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(count));
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  static std::runtime_error too_little() {
    return std::runtime_error("a rank says less than it should");
  }

  std::string_view bytes_;
};

}  // namespace slicewise::sim
