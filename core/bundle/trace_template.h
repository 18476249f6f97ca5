// The trace of one rank as a template for the other ranks of its class: all bytes are equal except group ids,
// the rank itself and its peers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "chakra/image.h"

namespace shardscape {

class TraceTemplate {
 public:
  // groups and ranks: the numbers of this file's rank, and the slot of each. The first slots are groups.
  // Problem: the file is no trace, or names a group or rank without a slot. where: the path of the file, for
  // messages.
  static Result<TraceTemplate> read(std::string file, const std::map<std::string, size_t>& groups,
                                    const std::map<int64_t, size_t>& ranks, const std::string& where);
  // The file of a rank with these numbers.
  TraceImage image(const SlotTexts& texts) const;

 private:
  // A number in the file: the length prefix of the attribute that holds it, and of the string if it is one.
  struct Place {
    size_t slot = 0;
    size_t attr_length = 0, attr = 0, attr_end = 0;  // offsets: of the length, of the content, after it
    size_t value_length = 0;                         // of the length of a string; 0: a varint has none
    size_t value = 0, value_end = 0;
  };
  struct Message {
    size_t length = 0, body = 0, end = 0;  // offsets
    std::vector<Place> places{};
  };
  friend class TemplateReader;
  std::string file_;
  std::vector<Message> messages_;  // those with numbers
  size_t slots_ = 0;
};

}  // namespace shardscape
