#include "serving/requests/trace_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/compressed_file.h"
#include "base/json_text.h"
#include "base/number_text.h"
#include "base/units.h"
#include "serving/requests/bench_file.h"
#include "serving/requests/text_lines.h"

namespace shardscape {
namespace {

using Json = nlohmann::json;

enum class Column : uint8_t { Arrival, Input, Output, Session, Parent, Priority, Hashes, Result, Date };
constexpr std::array<std::string_view, 7> kColumns{"arrival_s", "input_tokens", "output_tokens", "session",
                                                   "parent",    "priority",     "block_hashes"};
// Columns of a table of results (report/service_report.h), which is a trace, too. Their values have no
// effect.
constexpr std::array<std::string_view, 17> kResults{
    "host_tokens",    "disk_tokens", "load_s",      "prefill_replica", "prefilled_s",  "transfer_begin_s",
    "transfer_end_s", "restarts",    "scheduled_s", "first_token_s",   "last_token_s", "cached_tokens",
    "chunks",         "preemptions", "waited_for",  "replica",         "end"};
// Columns of published traces. Model and the like have no effect, as columns of results.
constexpr std::pair<std::string_view, Column> kPublished[] = {
    {"TIMESTAMP", Column::Date},      {"ContextTokens", Column::Input},  {"GeneratedTokens", Column::Output},
    {"Timestamp", Column::Arrival},   {"Request tokens", Column::Input}, {"Response tokens", Column::Output},
    {"Total tokens", Column::Result}, {"Model", Column::Result},         {"Log Type", Column::Result},
    {"Session ID", Column::Result},   {"Elapsed time", Column::Result}};
constexpr char kHeader[] = "arrival_s,input_tokens,output_tokens[,session,parent,priority,block_hashes]";
constexpr char kHashes[] = "whole numbers of at least 0, or ranges such as 4-13, with spaces between them";
constexpr int64_t kMostInRange = 1'000'000;  // also of one request
constexpr char kHashColumn[] = "block_hashes_";

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// More hashes than blocks of the prompt.
bool too_many_hashes(const Workload& workload, const Request& request) {
  return int64_t{request.hashes} >
         (int64_t{request.prompt} + workload.tokens_per_hash - 1) / workload.tokens_per_hash;
}

class CsvTrace {
 public:
  CsvTrace(const std::string& text, const std::string& name) : lines_(text, name) {}
  Result<Workload> read() {
    if (!lines_.next()) return lines_.problem("the trace is empty", kHeader);
    if (auto problem = header()) return *std::move(problem);
    while (lines_.next()) {
      if (auto problem = row()) return *std::move(problem);
    }
    if (out_.requests.empty()) return lines_.problem("the trace has no request", "a line per request");
    count_from_first_date();
    return std::move(out_);
  }

 private:
  std::optional<Problem> header() {
    std::array<bool, kColumns.size()> found{};
    for (std::string_view cell : lines_.cells()) {
      if (cell.starts_with(kHashColumn)) {
        const auto tokens = token_count(cell.substr(sizeof kHashColumn - 1));
        if (!tokens) return lines_.problem("the column " + quoted(cell) + " has no block size", kHeader);
        out_.tokens_per_hash = *tokens;
        cell = kColumns.back();
      }
      if (std::find(kResults.begin(), kResults.end(), cell) != kResults.end()) {
        columns_.push_back(Column::Result);
        continue;
      }
      const auto column = column_of(cell);
      if (!column) return lines_.problem("there is no column " + quoted(cell), kHeader);
      columns_.push_back(*column);
      if (*column == Column::Result) continue;
      const auto k = static_cast<size_t>(*column == Column::Date ? Column::Arrival : *column);
      if (found[k]) return lines_.problem("the column " + quoted(cell) + " is there twice", kHeader);
      found[k] = true;
    }
    for (size_t k = 0; k < 3; ++k)
      if (!found[k]) return lines_.problem("the column " + quoted(kColumns[k]) + " is missing", kHeader);
    return std::nullopt;
  }

  static std::optional<Column> column_of(std::string_view cell) {
    for (const auto& [name, column] : kPublished)
      if (cell == name) return column;
    const auto at = std::find(kColumns.begin(), kColumns.end(), cell);
    if (at == kColumns.end()) return std::nullopt;
    return static_cast<Column>(at - kColumns.begin());
  }

  // The days count from that of the first line, so that no fraction of a second is lost.
  std::optional<Problem> date(std::string_view text, Request& request) {
    const auto time = day_time(text);
    if (!time) return lines_.problem(quoted(text) + " is no time", "a time such as 2023-11-16 18:15:46.68");
    if (!first_day_) first_day_ = time->day;
    request.arrival = static_cast<double>(time->day - *first_day_) * 86400 + time->seconds;
    return std::nullopt;
  }

  void count_from_first_date() {
    if (!first_day_) return;
    double first = out_.requests.front().arrival;
    for (const Request& request : out_.requests) first = std::min(first, request.arrival);
    for (Request& request : out_.requests) request.arrival -= first;
  }

  std::optional<Problem> row() {
    const std::vector<std::string_view>& cells = lines_.cells();
    if (cells.size() != columns_.size())
      return lines_.problem("the line has " + std::to_string(cells.size()) + " values",
                            std::to_string(columns_.size()) + ", as the header");
    Request request;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (auto problem = cell(columns_[i], cells[i], request)) return problem;
    }
    if (too_many_hashes(out_, request))
      return lines_.problem(
          std::to_string(request.hashes) + " hashes for " + grouped(request.prompt) + " prompt tokens",
          "one hash per " + grouped(out_.tokens_per_hash) + " tokens");
    out_.requests.push_back(request);
    return std::nullopt;
  }

  std::optional<Problem> cell(Column column, std::string_view text, Request& request) {
    switch (column) {
      case Column::Result: return std::nullopt;
      case Column::Date: return date(text, request);
      case Column::Arrival: {
        const auto seconds = seconds_number(text);
        if (!seconds) return lines_.problem(quoted(text) + " is no arrival", "seconds of at least 0");
        request.arrival = *seconds;
        return std::nullopt;
      }
      case Column::Input:
      case Column::Output: {
        const auto tokens = token_count(text);
        if (!tokens) return lines_.problem(quoted(text) + " is no number of tokens", kTokenCounts);
        (column == Column::Input ? request.prompt : request.output) = *tokens;
        return std::nullopt;
      }
      case Column::Session:
        if (!text.empty())
          request.session = sessions_.try_emplace(std::string(text), static_cast<int32_t>(sessions_.size()))
                                .first->second;
        return std::nullopt;
      case Column::Parent: {
        if (text.empty()) return std::nullopt;
        const auto row = whole_number(text);
        const auto rows = static_cast<int64_t>(out_.requests.size());
        if (!row || *row < 0 || *row >= rows)
          return lines_.problem(quoted(text) + " is no earlier row",
                                rows ? "0 to " + grouped(rows - 1) + ", or nothing" : "nothing");
        request.parent = static_cast<int32_t>(*row);
        return std::nullopt;
      }
      case Column::Priority: {
        const auto value = text.empty() ? std::optional<int64_t>(0) : whole_number(text);
        if (!value || *value < -kMostTokens || *value > kMostTokens)
          return lines_.problem(quoted(text) + " is no priority", "a whole number");
        request.priority = static_cast<int32_t>(*value);
        return std::nullopt;
      }
      case Column::Hashes: return hash_list(text, request);
    }
    return std::nullopt;
  }

  std::optional<Problem> hash_list(std::string_view text, Request& request) {
    request.first_hash = static_cast<int64_t>(out_.hashes.size());
    while (!text.empty()) {
      const size_t end = text.find(' ');
      const std::string_view word = text.substr(0, end);
      const size_t dash = word.find('-');
      const auto first = whole_number(word.substr(0, dash));
      const auto last = dash == std::string_view::npos ? first : whole_number(word.substr(dash + 1));
      if (!first || !last || *first < 0 || *last < *first || *last - *first >= kMostInRange)
        return lines_.problem(quoted(word) + " is no block hash", kHashes);
      const int64_t count = *last - *first + 1;
      if (request.hashes + count > kMostInRange ||
          static_cast<int64_t>(out_.hashes.size()) + count > kMostHashes)
        return lines_.problem("the rows have more block hashes than can be read",
                              grouped(kMostInRange) + " of a request, " + grouped(kMostHashes) + " of all");
      for (int64_t value = *first; value <= *last; ++value)
        out_.hashes.push_back(static_cast<uint64_t>(value));
      request.hashes += static_cast<int32_t>(count);
      text = end == std::string_view::npos ? std::string_view() : trimmed(text.substr(end + 1));
    }
    return std::nullopt;
  }

  TextLines lines_;
  Workload out_;
  std::vector<Column> columns_;
  std::map<std::string, int32_t> sessions_;
  std::optional<int64_t> first_day_;
};

// A whole number of a member; nothing if it is absent or anything else.
std::optional<int64_t> member(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number_integer()) return std::nullopt;
  return at->get<int64_t>();
}
std::optional<int32_t> tokens_of(const Json& object, const char* key) {
  const auto value = member(object, key);
  if (!value || *value < 1 || *value > kMostTokens) return std::nullopt;
  return static_cast<int32_t>(*value);
}
// Seconds of a number; nothing if it is no number or negative.
std::optional<double> number(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number()) return std::nullopt;
  const auto value = at->get<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

Result<Workload> mooncake(const std::string& text, const std::string& name) {
  constexpr char kLine[] =
      R"({"timestamp": milliseconds, "input_length": tokens, "output_length": tokens, "hash_ids": [...]})";
  Workload out;
  TextLines lines(text, name);
  while (lines.next()) {
    Json object;
    if (const auto mistake = parse_json(lines.line(), object))
      return lines.problem("the line is not JSON: " + mistake->what, kLine);
    if (!object.is_object()) return lines.problem("the line is no JSON object", kLine);
    const auto time = number(object, "timestamp");
    const auto input = tokens_of(object, "input_length"), output = tokens_of(object, "output_length");
    if (!time || !input || !output)
      return lines.problem(std::string(!time    ? "timestamp"
                                       : !input ? "input_length"
                                                : "output_length") +
                               " is missing or no number",
                           kLine);
    Request request;
    request.arrival = *time / 1000;
    request.prompt = *input;
    request.output = *output;
    request.first_hash = static_cast<int64_t>(out.hashes.size());
    if (const auto hashes = object.find("hash_ids"); hashes != object.end()) {
      if (!hashes->is_array()) return lines.problem("hash_ids is no list", kLine);
      for (const Json& hash : *hashes) {
        if (!hash.is_number_unsigned())
          return lines.problem("a hash is no whole number of at least 0", kLine);
        out.hashes.push_back(hash.get<uint64_t>());
      }
      request.hashes = static_cast<int32_t>(hashes->size());
    }
    if (too_many_hashes(out, request))
      return lines.problem(
          std::to_string(request.hashes) + " hashes for " + grouped(request.prompt) + " prompt tokens",
          "one hash per " + grouped(out.tokens_per_hash) + " tokens");
    out.requests.push_back(request);
  }
  return out;
}

Result<Workload> json_array(const std::string& text, const std::string& name) {
  const auto problem = [&](size_t row, std::string what, std::string accepted) {
    return Problem(ProblemCode::TraceLineInvalid, name + ": element " + std::to_string(row), std::move(what),
                   std::move(accepted));
  };
  constexpr char kElement[] = R"({"input_tokens": tokens, "output_tokens": tokens, "arrival_s": seconds})";
  Json all;
  if (auto problem = read_json(text, name, all)) return std::move(*problem);
  Workload out;
  for (const Json& object : all) {
    const size_t row = out.requests.size();
    if (object.is_object() && object.contains("conversations"))
      return problem(row, "the element has a conversation without a time",
                     "the setting lengths for this file");
    if (!object.is_object()) return problem(row, "the element is no object", kElement);
    const auto input = tokens_of(object, "input_tokens"), output = tokens_of(object, "output_tokens");
    const auto arrival = object.contains("arrival_s") ? number(object, "arrival_s") : std::optional(0.0);
    if (!input || !output || !arrival)
      return problem(row,
                     std::string(!input    ? "input_tokens"
                                 : !output ? "output_tokens"
                                           : "arrival_s") +
                         " is missing or no number",
                     kElement);
    Request& request = out.requests.emplace_back();
    request.arrival = *arrival;
    request.prompt = *input;
    request.output = *output;
  }
  if (out.requests.empty()) return problem(0, "the trace has no request", kElement);
  return out;
}

// A result of vllm bench; nothing: another kind of file.
Result<std::optional<Workload>> bench_trace(const std::string& text, const std::string& name) {
  const auto read = bench_result(text, name);
  if (const auto* problem = std::get_if<Problem>(&read)) return *problem;
  const auto& requests = std::get<0>(read);
  if (!requests) return std::optional<Workload>();
  if (requests->starts.empty())
    return Problem(ProblemCode::TraceLineInvalid, name, "the result has no start_times",
                   "a result with start_times, or the setting lengths for this file");
  return std::optional(open_loop(requests->starts, requests->lengths));
}

}  // namespace

Result<Workload> parse_trace(const std::string& text, const std::string& name) {
  const std::string_view start = trimmed(text);
  if (start.starts_with('{')) {
    auto bench = bench_trace(text, name);
    if (auto* problem = std::get_if<Problem>(&bench)) return *std::move(problem);
    if (auto& workload = std::get<0>(bench)) return *std::move(workload);
    return mooncake(text, name);
  }
  if (start.starts_with('[')) return json_array(text, name);
  return CsvTrace(text, name).read();
}

Result<Workload> read_trace(const std::filesystem::path& file) {
  const Result<std::string> text = read_text_or_gzip(file);
  if (const auto* problem = std::get_if<Problem>(&text)) return *problem;
  return parse_trace(std::get<std::string>(text), file.filename().string());
}

}  // namespace shardscape
