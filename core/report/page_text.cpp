// A page report as HTML and Markdown, and its picture.
#include <algorithm>
#include <array>

#include "base/atomic_write.h"
#include "base/units.h"
#include "base/version.h"
#include "report/page_report.h"

namespace shardscape {
namespace {

constexpr const char* kStyle =
    "body{font:14px/1.45 Inter,system-ui,sans-serif;color:#1D2733;background:#FFF;max-width:1040px;"
    "margin:32px auto;padding:0 24px}h1{font-size:24px;margin:0}h2{font-size:16px;margin:28px 0 8px}"
    ".verdict{font-size:17px;font-weight:600;margin:8px 0 0}.good{color:#1B7F51}.bad{color:#B03327}"
    "table{border-collapse:collapse;font-size:12px}td,th{text-align:left;padding:4px 14px 4px 0;"
    "border-bottom:1px solid #DCE1E7;vertical-align:top}th{color:#5C6874;font-weight:500}"
    "code{font:12px ui-monospace,monospace;overflow-wrap:anywhere}footer{color:#5C6874;margin-top:28px}"
    "svg{max-width:100%;height:auto}@media print{body{margin:0}h2{break-after:avoid}tr{break-inside:avoid}}";

std::string cells(const PageRow& row, const char* tag) {
  std::string out = "<tr>";
  for (const std::string& cell : row)
    out += "<" + std::string(tag) + ">" + html_text(cell) + "</" + tag + ">";
  return out + "</tr>\n";
}

std::string table_html(const std::vector<PageRow>& rows) {
  if (rows.empty()) return "";
  std::string out = "<table>\n";
  const bool named = std::any_of(rows.front().begin(), rows.front().end(),
                                 [](const std::string& cell) { return !cell.empty(); });
  if (named) out += cells(rows.front(), "th");
  for (size_t i = 1; i < rows.size(); ++i) out += cells(rows[i], "td");
  return out + "</table>\n";
}

// A bar would end the cell, and a line end the row.
std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : c == '\n' ? " " : std::string(1, c);
  return out;
}

std::string table_markdown(const std::vector<PageRow>& rows) {
  std::string out;
  for (size_t i = 0; i < rows.size(); ++i) {
    out += "|";
    for (const std::string& cell : rows[i]) out += " " + markdown_cell(cell) + " |";
    out += "\n";
    if (i > 0) continue;
    out += "|";
    for (size_t c = 0; c < rows[i].size(); ++c) out += " --- |";
    out += "\n";
  }
  return out;
}

std::string footer() { return std::string("Shardscape ") + program_version(); }

}  // namespace

std::string html_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string page_html(const PageReport& page) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>" +
                    html_text(page.title) + "</title>\n<style>" + kStyle + "</style></head><body>\n<h1>" +
                    html_text(page.title) + "</h1>\n<p class=\"verdict " + (page.fits ? "good" : "bad") +
                    "\">" + html_text(page.verdict) + "</p>\n";
  for (const PageSection& section : page.sections) {
    out += "<h2>" + html_text(section.title) + "</h2>\n";
    for (const std::string& paragraph : section.paragraphs) out += "<p>" + html_text(paragraph) + "</p>\n";
    out += section.picture + table_html(section.rows);
  }
  return out + "<h2>Command</h2>\n<p><code>" + html_text(page.command) + "</code></p>\n<footer>" +
         html_text(footer()) + "</footer>\n</body></html>\n";
}

std::string page_markdown(const PageReport& page) {
  std::string out = "# " + page.title + "\n\n**" + page.verdict + "**\n";
  for (const PageSection& section : page.sections) {
    out += "\n## " + section.title + "\n\n";
    for (const std::string& paragraph : section.paragraphs) out += paragraph + "\n\n";
    out += table_markdown(section.rows);
  }
  return out + "\n## Command\n\n    " + page.command + "\n\n" + footer() + "\n";
}

std::optional<Problem> write_page(const PageReport& page, const std::filesystem::path& path) {
  return atomic_write(path, path.extension() == ".md" ? page_markdown(page) : page_html(page));
}

std::string memory_picture(const MemoryTimeline& memory) {
  constexpr int kLabel = 70, kBar = 720, kRow = 22, kThick = 15, kLegend = 24, kPerLine = 4, kCell = 205;
  // Parameters, gradients, optimizer, activations, logits, KV cache, buffers, runtime.
  constexpr std::array<const char*, kAllMemoryCategories> kColors{"#3569B0", "#5FA3D9", "#8A6FC0", "#E08B2C",
                                                                  "#D2B535", "#B65C7A", "#3E9E82", "#98A2AD"};
  int64_t most = std::max<int64_t>(1, memory.capacity);
  for (const StageMemory& s : memory.stages) most = std::max(most, s.in_use);
  const auto x = [&](int64_t bytes) {
    return kLabel + static_cast<double>(bytes) / static_cast<double>(most) * kBar;
  };
  const int legend = kLegend * (kAllMemoryCategories / kPerLine);
  const int height = legend + kRow * static_cast<int>(memory.stages.size()) + kRow;
  const std::string width = std::to_string(kLabel + kBar + 110);
  std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 " + width + " " +
                    std::to_string(height) + "\" width=\"" + width +
                    "\" font-family=\"Inter,sans-serif\" font-size=\"12\" fill=\"#1D2733\">\n";
  const auto rect = [&](double left, int top, double wide, int high, const char* color) {
    out += "<rect x=\"" + significant(left, 6) + "\" y=\"" + std::to_string(top) + "\" width=\"" +
           significant(wide, 6) + "\" height=\"" + std::to_string(high) + "\" fill=\"" + color + "\"/>\n";
  };
  const auto text = [&](double left, int base, const std::string& words) {
    out += "<text x=\"" + significant(left, 6) + "\" y=\"" + std::to_string(base) + "\">" + html_text(words) +
           "</text>\n";
  };
  for (int c = 0; c < kAllMemoryCategories; ++c) {
    const int left = c % kPerLine * kCell, top = c / kPerLine * kLegend;
    rect(left, top + 2, 12, 12, kColors[static_cast<size_t>(c)]);
    text(left + 18, top + 12, std::string(memory_category_label(static_cast<MemoryCategory>(c))));
  }
  int top = legend;
  for (const StageMemory& s : memory.stages) {
    text(0, top + 12, "stage " + std::to_string(s.stage));
    int64_t before = 0;
    for (size_t c = 0; c < kColors.size(); ++c) {
      if (s.at_peak[c] <= 0) continue;
      rect(x(before), top, x(before + s.at_peak[c]) - x(before), kThick, kColors[c]);
      before += s.at_peak[c];
    }
    text(x(before) + 6, top + 12, format_bytes(s.in_use));
    top += kRow;
  }
  if (memory.capacity > 0) {
    rect(x(memory.capacity), legend - 4, 2, top - legend + 4, "#C0392B");
    text(x(memory.capacity) - 90, top + 14, "capacity " + format_bytes(memory.capacity));
  }
  return out + "</svg>\n";
}

}  // namespace shardscape
