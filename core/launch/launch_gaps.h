// Settings of a design that a written launch does not say: the launch is read again, and the designs
// are compared.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/launch_export.h"

namespace shardscape {

// Why a launch does not say a setting: id of the knob, reason. The first reason of a knob counts.
using GapReasons = std::vector<std::pair<std::string, std::string>>;

// The text, with one gap for every setting that has an effect in the design and that the framework's own
// reader reads differently. Settings of the cluster are no part of a launch. Comment lines below the heading
// of the text name the gaps. A gap without a reason: "FRAMEWORK has no such setting".
// checkpoint: the model, where the text names only a folder.
// A Problem (LaunchSetting) if the reader refuses the text.
std::variant<LaunchText, Problem> with_gaps(const Design& design, LaunchText text, std::string_view framework,
                                            const GapReasons& reasons,
                                            std::optional<ModelSpec> checkpoint = {});

}  // namespace shardscape
