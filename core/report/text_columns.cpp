#include "report/text_columns.h"

namespace shardscape {

std::string pad(std::string text, size_t width, bool right) {
  size_t shown = 0;  // code points: symbols such as '·' take several bytes
  for (const char c : text) shown += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  const std::string fill(width > shown ? width - shown : 0, ' ');
  return right ? fill + text : text + fill;
}

}  // namespace shardscape
