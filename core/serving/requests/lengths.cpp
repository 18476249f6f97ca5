#include "serving/requests/lengths.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/compressed_file.h"
#include "base/number_text.h"
#include "base/units.h"
#include "serving/requests/bench_file.h"
#include "serving/requests/random.h"
#include "serving/requests/text_lines.h"

namespace shardscape {
namespace {

constexpr uint64_t kPromptStream = 2, kOutputStream = 3, kRowStream = 4, kThinkStream = 5;

std::optional<Problem> mistake(const LengthRule& rule, const char* where) {
  const auto problem = [&](std::string what, std::string accepted) {
    return Problem(ProblemCode::WorkloadInvalid, where, std::move(what), std::move(accepted));
  };
  if (rule.tokens < 1 || rule.tokens > kMostTokens)
    return problem("a request has " + grouped(rule.tokens) + " tokens", "1 to " + grouped(kMostTokens));
  if (rule.kind == LengthKind::Uniform && !(rule.ratio >= 0 && rule.ratio <= 1))
    return problem("the shortest length is " + significant(rule.ratio) + " of the longest", "0 to 1");
  if (rule.kind == LengthKind::LogNormal && !(rule.sigma >= 0 && rule.sigma <= 5))
    return problem("sigma of the logarithm is " + significant(rule.sigma), "0 to 5");
  return std::nullopt;
}

int32_t drawn(const LengthRule& rule, Random& random) {
  switch (rule.kind) {
    case LengthKind::Fixed: return rule.tokens;
    case LengthKind::Uniform: {
      const auto least = std::max<int64_t>(1, static_cast<int64_t>(std::floor(rule.ratio * rule.tokens)));
      return static_cast<int32_t>(least + random.below(rule.tokens - least + 1));
    }
    case LengthKind::LogNormal: {
      // The mean of the distribution is exp(mu + sigma^2 / 2).
      const double scale = portable_exp(rule.sigma * random.normal() - rule.sigma * rule.sigma / 2);
      return static_cast<int32_t>(
          std::clamp(std::floor(rule.tokens * scale + 0.5), 1.0, double{kMostTokens}));
    }
  }
  return 0;
}

Workload requests_of(std::span<const RequestLength> lengths) {
  Workload out;
  out.requests.resize(lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    out.requests[i].prompt = lengths[i].prompt;
    out.requests[i].output = lengths[i].output;
  }
  return out;
}

}  // namespace

Result<std::vector<RequestLength>> drawn_lengths(const LengthRule& prompt, const LengthRule& output,
                                                 int64_t count, uint64_t seed) {
  if (auto problem = mistake(prompt, "prompt length")) return *std::move(problem);
  if (auto problem = mistake(output, "output length")) return *std::move(problem);
  Random prompts(seed, kPromptStream), outputs(seed, kOutputStream);
  std::vector<RequestLength> out(static_cast<size_t>(count));
  for (RequestLength& length : out) length = {drawn(prompt, prompts), drawn(output, outputs)};
  return out;
}

Result<std::vector<RequestLength>> read_lengths(const std::filesystem::path& file,
                                                double characters_per_token, bool empty_texts) {
  const Result<std::string> text = read_text_or_gzip(file);
  if (const auto* problem = std::get_if<Problem>(&text)) return *problem;
  const std::string name = file.filename().string();
  const std::string_view start = trimmed(std::get<std::string>(text));
  if (start.starts_with('['))
    return sharegpt_lengths(std::get<std::string>(text), name, characters_per_token);
  if (start.starts_with('{')) {
    auto read = bench_result(std::get<std::string>(text), name);
    if (auto* problem = std::get_if<Problem>(&read)) return *std::move(problem);
    if (auto& requests = std::get<0>(read)) return std::move(requests->lengths);
  }
  TextLines lines(std::get<std::string>(text), name);
  std::vector<RequestLength> out;
  if (!lines.next() || lines.cells() != std::vector<std::string_view>{"input_length", "output_length"})
    return lines.problem("the header is \"" + std::string(lines.line()) + "\"",
                         "input_length,output_length, or JSON of vllm bench or ShareGPT");
  while (lines.next()) {
    const std::vector<std::string_view>& cells = lines.cells();
    if (cells.size() != 2)
      return lines.problem("the line has " + std::to_string(cells.size()) + " values", "2");
    const auto tokens = [&](std::string_view cell) {
      return empty_texts && cell == "0" ? std::optional<int32_t>(0) : token_count(cell);
    };
    const auto prompt = tokens(cells[0]), output = tokens(cells[1]);
    if (!prompt || !output)
      return lines.problem("\"" + std::string(lines.line()) + "\" are no numbers of tokens", kTokenCounts);
    out.push_back({*prompt, *output});
  }
  if (out.empty()) return lines.problem("the file has no lengths", "a line per request");
  return out;
}

std::vector<RequestLength> sampled_lengths(std::span<const RequestLength> rows, int64_t count,
                                           uint64_t seed) {
  Random random(seed, kRowStream);
  std::vector<RequestLength> out(static_cast<size_t>(count));
  for (RequestLength& length : out)
    length = rows[static_cast<size_t>(random.below(static_cast<int64_t>(rows.size())))];
  return out;
}

Workload open_loop(std::span<const double> arrivals, std::span<const RequestLength> lengths) {
  Workload out = requests_of(lengths);
  for (size_t i = 0; i < lengths.size(); ++i) out.requests[i].arrival = arrivals[i];
  return out;
}

Workload closed_loop(int64_t users, std::span<const RequestLength> lengths) {
  Workload out = requests_of(lengths);
  out.users = users;
  return out;
}

void form_sessions(Workload& workload, int64_t turns, double think_seconds, uint64_t seed) {
  Random random(seed, kThinkStream);
  for (size_t i = 0; i < workload.requests.size(); ++i) {
    Request& request = workload.requests[i];
    const auto turn = static_cast<int64_t>(i) % turns;
    request.session = static_cast<int32_t>(static_cast<int64_t>(i) / turns);
    if (turn == 0) continue;
    const Request& parent = workload.requests[i - 1];
    const int64_t prompt = int64_t{parent.prompt} + parent.output + request.prompt;
    request.parent = static_cast<int32_t>(i) - 1;
    request.prompt = static_cast<int32_t>(std::min<int64_t>(prompt, kMostTokens));
    request.arrival = think_seconds * random.exponential();
  }
}

}  // namespace shardscape
