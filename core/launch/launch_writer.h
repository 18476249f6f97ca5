// Collects what a launch says of a design. Every setting that has an effect in the design, and that the
// launch does not express, becomes a gap: none is dropped silently.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launch/launch_export.h"

namespace shardscape {

class LaunchWriter {
 public:
  // read_back: what the framework's reader makes of a launch that states nothing but the required arguments.
  // A setting with this value needs no words.
  LaunchWriter(const Design& design, const Design& read_back) : design_(design), otherwise_(read_back) {}

  const Design& design() const { return design_; }
  // The knob's text, marked as expressed.
  std::string take(std::string_view knob);
  bool on(std::string_view knob) { return take(knob) == "true"; }
  void expressed(std::string_view knob) { expressed_.insert(std::string(knob)); }
  // The framework cannot say the value of the knob.
  void gap(std::string_view knob, std::string reason);

  // The gaps given, and one for every other knob that has an effect, is not expressed and does not have the
  // value that the framework's reader assumes. Knobs of the cluster are not part of a launch.
  std::vector<LaunchGap> finish(const std::string& framework);

 private:
  const Design& design_;
  const Design& otherwise_;
  std::set<std::string, std::less<>> expressed_;
  std::vector<std::pair<std::string, std::string>> given_;  // knob, reason
};

}  // namespace shardscape
