#include "slicewise/filled_text.hpp"

#include <gtest/gtest.h>

namespace slicewise {
namespace {

TEST(FilledText, ReplacesEveryPlaceOfAName) {
  EXPECT_EQ(filled("@a@ and @a@, @b@", {{"a", "x@a@"}, {"b", ""}}), "x@a@ and x@a@, ");
}

// As in a script: what has nothing to say leaves no empty line.
TEST(FilledText, ALineThatIsAPlaceStandsForWholeLines) {
  EXPECT_EQ(filled("first\n@a@\nlast\n", {{"a", "x\ny\n"}}), "first\nx\ny\nlast\n");
  EXPECT_EQ(filled("first\n@a@\nlast\n", {{"a", ""}}), "first\nlast\n");
}

}  // namespace
}  // namespace slicewise
