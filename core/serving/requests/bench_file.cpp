#include "serving/requests/bench_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"
#include "base/units.h"

namespace shardscape {
namespace {

using Json = nlohmann::json;

constexpr char kResult[] = R"({"input_lens": [...], "output_lens": [...], "start_times": [...]})";
constexpr char kConversation[] = R"({"conversations": [{"value": text}, {"value": text}, ...]})";

Problem at_request(const std::string& name, size_t request, std::string what, std::string accepted) {
  return {ProblemCode::TraceLineInvalid, name + ": request " + std::to_string(request), std::move(what),
          std::move(accepted)};
}

std::optional<int32_t> tokens_of(const Json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto tokens = value.get<int64_t>();
  return tokens >= 1 && tokens <= kMostTokens ? std::optional(static_cast<int32_t>(tokens)) : std::nullopt;
}

std::optional<int32_t> tokens_of_text(const Json& turn, double characters_per_token) {
  const auto value = turn.is_object() ? turn.find("value") : turn.end();
  if (!turn.is_object() || value == turn.end() || !value->is_string()) return std::nullopt;
  const auto& text = value->get_ref<const std::string&>();
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // no continuation of a code point
  });
  const double tokens = std::ceil(static_cast<double>(characters) / characters_per_token);
  return static_cast<int32_t>(std::clamp(tokens, 1.0, double{kMostTokens}));
}

}  // namespace

Result<std::optional<BenchRequests>> bench_result(const std::string& text, const std::string& name) {
  Json all;
  if (parse_json(text, all) || !all.is_object() || !all.contains("input_lens"))
    return std::optional<BenchRequests>();
  const Json none = Json::array();
  const auto list = [&](const char* key) -> const Json& {
    const auto it = all.find(key);
    return it != all.end() && it->is_array() ? *it : none;
  };
  const Json &inputs = list("input_lens"), &outputs = list("output_lens"), &starts = list("start_times"),
             &errors = list("errors");
  if (inputs.empty() || inputs.size() != outputs.size() ||
      (!starts.empty() && starts.size() != inputs.size()))
    return Problem(ProblemCode::TraceLineInvalid, name,
                   grouped(static_cast<Wide>(inputs.size())) + " input lengths, " +
                       grouped(static_cast<Wide>(outputs.size())) + " output lengths and " +
                       grouped(static_cast<Wide>(starts.size())) + " start times",
                   std::string(kResult) + ", of equal numbers");
  BenchRequests out;
  double first = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < errors.size() && errors[i].is_string() && !errors[i].get_ref<const std::string&>().empty())
      return at_request(name, i, "it failed in the benchmark", "a result without failed requests");
    const auto prompt = tokens_of(inputs[i]), output = tokens_of(outputs[i]);
    if (!prompt || !output)
      return at_request(name, i, prompt ? "it has no output tokens" : "it has no input tokens", kResult);
    out.lengths.push_back({*prompt, *output});
    if (starts.empty()) continue;
    if (!starts[i].is_number()) return at_request(name, i, "its start is no number", "seconds");
    out.starts.push_back(starts[i].get<double>());
    first = i == 0 ? out.starts[0] : std::min(first, out.starts[i]);
  }
  for (double& start : out.starts) start -= first;
  return std::optional(std::move(out));
}

Result<std::vector<RequestLength>> sharegpt_lengths(const std::string& text, const std::string& name,
                                                    double characters_per_token) {
  Json all;
  if (auto problem = read_json(text, name, all)) return std::move(*problem);
  if (!all.is_array())
    return Problem(ProblemCode::JsonSyntax, name, "the file is no JSON array", kConversation);
  if (!(characters_per_token > 0))
    return Problem(ProblemCode::EngineSettingInvalid, "characters_per_token",
                   name + " has texts, whose tokens are unknown",
                   "characters of a token, about 4 for English text");
  std::vector<RequestLength> out;
  for (size_t i = 0; i < all.size(); ++i) {
    const Json* turns = all[i].is_object() && all[i].contains("conversations") ? &all[i]["conversations"]
                                                                               : nullptr;
    if (!turns || !turns->is_array())
      return at_request(name, i, "the element has no conversations", kConversation);
    if (turns->size() < 2) continue;
    const auto prompt = tokens_of_text((*turns)[0], characters_per_token),
               output = tokens_of_text((*turns)[1], characters_per_token);
    if (!prompt || !output) return at_request(name, i, "a turn has no text", kConversation);
    out.push_back({*prompt, *output});
  }
  if (out.empty())
    return Problem(ProblemCode::TraceLineInvalid, name, "no conversation has two turns", kConversation);
  return out;
}

}  // namespace shardscape
