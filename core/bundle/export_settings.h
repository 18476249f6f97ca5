// Everything that decides on the bytes of an export, so that an interrupted export goes on only with the
// same.
#pragma once

#include <string>

#include "bundle/bundle.h"

namespace shardscape {

// JSON: the version of the program, the options, and the design.
std::string export_settings(const Report& report, const ExportOptions& options);
// The first setting in which two texts of export_settings() differ, for people; "" if they are equal.
std::string settings_difference(const std::string& before, const std::string& now);

}  // namespace shardscape
