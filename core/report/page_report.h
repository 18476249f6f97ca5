// One page about a design for people: verdict, model, layout, memory, step, collectives, assumptions,
// sources. As HTML that needs no other file, and as Markdown.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "memory/memory_timeline.h"
#include "timing/simulation.h"

namespace shardscape {

using PageRow = std::vector<std::string>;

struct PageSection {
  std::string title;  // "Memory"
  std::vector<std::string> paragraphs;
  std::vector<PageRow> rows;  // the first row is the heading; empty: no table
  std::string picture;        // SVG; empty: none
};

struct PageReport {
  std::string title;    // the name of the design, or the names of those compared
  std::string verdict;  // "Fits. 53.3 GiB of 80.0 GiB ..."
  bool fits = false;
  std::vector<PageSection> sections;
  std::string command;   // `shardscape-cli report` with the flags of the design
  std::string document;  // JSON of the design or study, which opens again; empty: none
};

struct Sensitivity;

// A valid report with a memory timeline. sensitivity: of the same design; null: the page has none.
PageReport page_report(const Report& report, const Simulation& simulation,
                       const Sensitivity* sensitivity = nullptr);
std::string page_html(const PageReport& page);
// Without the picture, whose numbers stand in the table of memory.
std::string page_markdown(const PageReport& page);
// Writes page_markdown() if the name ends in ".md", else page_html().
std::optional<Problem> write_page(const PageReport& page, const std::filesystem::path& path);

// Text with the special characters of HTML replaced: "a &lt; b".
std::string html_text(const std::string& text);

}  // namespace shardscape
