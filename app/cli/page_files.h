// Pages for people as files: web page, Markdown, PDF.
#pragma once

#include <optional>
#include <vector>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "report/page_report.h"

namespace shardscape {

// --html, --markdown and --pdf.
std::vector<Flag> page_flags();
bool wants_page(const Arguments& arguments);
// Writes the files that are wanted and prints their names. Returns an exit code.
int write_pages(const Arguments& arguments, const PageReport& page);

}  // namespace shardscape
