// A page report as HTML and Markdown.
#include <algorithm>

#include "base/atomic_write.h"
#include "base/shown_text.h"
#include "base/units.h"
#include "base/version.h"
#include "design/embedded_document.h"
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
  if (!page.command.empty()) out += "<h2>Command</h2>\n<p><code>" + html_text(page.command) + "</code></p>\n";
  if (!page.document.empty()) out += "<p>Shardscape opens this file: it has the design in it.</p>\n";
  out += "<footer>" + html_text(footer()) + "</footer>\n";
  if (!page.document.empty()) out += html_design(page.document);
  return out + "</body></html>\n";
}

std::string page_markdown(const PageReport& page) {
  std::string out = "# " + markdown_text(page.title) + "\n\n**" + page.verdict + "**\n";
  for (const PageSection& section : page.sections) {
    out += "\n## " + section.title + "\n\n";
    for (const std::string& paragraph : section.paragraphs) out += paragraph + "\n\n";
    out += table_markdown(section.rows);
  }
  if (!page.command.empty()) out += "\n## Command\n\n    " + page.command + "\n";
  return out + "\n" + footer() + "\n";
}

std::optional<Problem> write_page(const PageReport& page, const std::filesystem::path& path) {
  return atomic_write(path, path.extension() == ".md" ? page_markdown(page) : page_html(page));
}

}  // namespace shardscape
