// Reads single events of a trace into a profile. Private to core/profile.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "profile/profile.h"

namespace shardscape {

class EventReader {
 public:
  explicit EventReader(Profile& profile);
  ~EventReader();
  // The text of one event, and of one member next to the events. What is wrong with it; empty: nothing.
  std::string event(std::string_view text);
  std::string member(std::string_view key, std::string_view text);
  static bool wants(std::string_view key);  // whether a profile has use for the member
  // After the last event: collectives without arguments of their own take those of their host op.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardscape
