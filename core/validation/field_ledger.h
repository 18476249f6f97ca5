// The fields of a recording while they are mapped: which were used, and which knob could not be set. Private
// to core/audit.
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

  // The first of these names that the recording has with a value; reading a field accounts for it. Names are
  // of "config" unless they say otherwise.
  std::optional<int64_t> integer(std::initializer_list<const char*> names);
  std::optional<std::string> text(std::initializer_list<const char*> names);  // of numbers and flags as well
  bool flag(const char* name);                                                // false where absent
  // Fields that change nothing that is compared.
  void ignore(std::initializer_list<const char*> names);

  // Sets a knob by its id. Where the program has no such knob, that is fine for the neutral value and a
  // reason otherwise.
  bool set(const std::string& knob, const std::string& value, const std::string& field,
           const std::string& neutral = "");
  bool set(const std::string& knob, int64_t value, const std::string& field,
           const std::string& neutral = "") {
    return set(knob, std::to_string(value), field, neutral);
  }
  void unmapped(const std::string& field, const std::string& reason);
  // Lists what nobody asked for.
  void close();

 private:
  const RecordedField* use(std::initializer_list<const char*> names);
  const Recording& recording_;
  Mapping& mapping_;
  std::set<std::string> used_;
};

}  // namespace shardscape
