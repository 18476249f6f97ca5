// A saved design inside of another document: a report as a web page or as PDF carries the JSON that it was
// made from, so that the report opens again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/problem.h"

namespace shardscape {

// Name of the file that is attached to a PDF.
inline constexpr const char* kAttachedDesign = "design.shardscape.json";

// The element of a web page that holds the JSON; no browser shows it.
std::string html_design(std::string_view json);

// Whether the text is a web page or a PDF rather than JSON.
bool is_report_document(std::string_view text);

// The JSON that a report carries; the text itself if it is no report. Problem (DocumentFormat): a web page or
// a PDF without a design. At most 64 MiB are taken out of a PDF.
Result<std::string> design_json_of(std::string text, const std::string& where);

}  // namespace shardscape
