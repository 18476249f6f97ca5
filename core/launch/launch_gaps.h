// Settings of a design that a written launch does not say: the launch is read again, and the designs
// compared.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launch/launch_export.h"

namespace shardscape {

// The text, and one gap for every setting with an effect that the framework's own reader reads differently.
// reasons: by id of the setting; others have "FRAMEWORK has no such setting".
// A Problem (LaunchSetting) if the reader refuses the text.
std::variant<LaunchText, Problem> with_gaps(const Design& design, LaunchText text,
                                            const LaunchFramework& framework,
                                            const std::vector<std::pair<std::string, std::string>>& reasons);

}  // namespace shardscape
