// Which page of the documentation explains what the window shows. The only place that says so.
#pragma once

#include <QString>

namespace shardscape::ui {

enum class HelpTopic {
  Graph,
  Memory,
  Flops,
  Roofline,
  Collectives,
  Mesh,
  Timeline,  // views
  Designs,
  Compare,
  Sensitivity,
  Scaling,
  Serving,  // pages of Explore
  Form,
  Problems
};
inline constexpr int kHelpTopicCount = static_cast<int>(HelpTopic::Problems) + 1;

QString helpLink(HelpTopic topic);  // below docs/: "models/memory.md#advice"

}  // namespace shardscape::ui
