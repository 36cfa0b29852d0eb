// Of a page: the engine as zstd packed it, a quarter smaller than what a browser unpacks by itself.
#include <stddef.h>
#include <zstd.h>

// The bytes that were written to `to`, or a number above `room` where `from` is damaged.
size_t unpack(void* to, size_t room, const void* from, size_t size) {
  return ZSTD_decompress(to, room, from, size);
}
