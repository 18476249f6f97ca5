// Bookkeeping while the fields of a recording are mapped: used fields, and knobs that could not be set.
// Private to core/validation.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "validation/mapping.h"
#include "validation/recording.h"

namespace shardscape {

class FieldLedger {
 public:
  FieldLedger(const Recording& recording, Mapping& mapping) : recording_(recording), mapping_(mapping) {}

  // The first of the named fields that has a value; null if there is none. Reading a field marks it as used.
  // Names refer to "config" unless they have another prefix.
  std::optional<int64_t> integer(std::initializer_list<const char*> names);
  std::optional<std::string> text(std::initializer_list<const char*> names);  // also of numbers and flags
  bool flag(const char* name);                                                // false if absent
  // Marks fields that do not affect any compared quantity.
  void ignore(std::initializer_list<const char*> names);

  // Sets a knob by its id. If the program has no such knob, every value except `neutral` makes the field
  // unmapped.
  bool set(const std::string& knob, const std::string& value, const std::string& field,
           const std::string& neutral = "");
  bool set(const std::string& knob, int64_t value, const std::string& field,
           const std::string& neutral = "") {
    return set(knob, std::to_string(value), field, neutral);
  }
  void unmapped(const std::string& field, const std::string& reason);
  // Adds every unused field to the unmapped fields.
  void close();

 private:
  const RecordedField* use(std::initializer_list<const char*> names);
  const Recording& recording_;
  Mapping& mapping_;
  std::set<std::string> used_;
};

}  // namespace shardscape
