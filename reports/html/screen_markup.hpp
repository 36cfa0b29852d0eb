#pragma once

#include <string>
#include <vector>

#include "../screens/screen.hpp"

// A Screen on a page.
namespace slicewise::reports::html {

// Sentences in a list; one alone is a paragraph.
std::string sentences_markup(const std::vector<Sentence>& sentences);
// A heading, a table, sentences and the parts below; what a comment folds is folded here as well.
std::string part_markup(const ScreenPart& part);
// The alarm, the heading, the answer, all other parts and where the figures come from. Whoever
// shows it gives it a section.
std::string screen_markup(const Screen& screen);

}  // namespace slicewise::reports::html
