// Numbers of prompt and output tokens of requests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "base/problem.h"
#include "serving/requests/request.h"

namespace shardscape {

enum class LengthKind : uint8_t {
  Fixed,      // always `tokens`
  Uniform,    // whole numbers from ratio x tokens to tokens, as InferenceX draws them (ratio 0.8)
  LogNormal,  // mean `tokens`, and `sigma`, the standard deviation of the logarithm
};
struct LengthRule {
  LengthKind kind = LengthKind::Fixed;
  int32_t tokens = 0;
  double ratio = 1, sigma = 0;
};

struct RequestLength {
  int32_t prompt = 0, output = 0;
  friend bool operator==(const RequestLength&, const RequestLength&) = default;
};

// Every length has at least one token and at most kMostTokens.
Result<std::vector<RequestLength>> drawn_lengths(const LengthRule& prompt, const LengthRule& output,
                                                 int64_t count, uint64_t seed);
// A data set: a CSV file with the columns input_length and output_length, a result of vllm bench, or
// conversations of ShareGPT (bench_file.h). It may be compressed with gzip. characters_per_token: of texts;
// 0: texts are refused. empty_texts: rows of CSV files may have an empty prompt or answer, of 0 tokens. The
// caller leaves them out.
Result<std::vector<RequestLength>> read_lengths(const std::filesystem::path& file,
                                                double characters_per_token = 0, bool empty_texts = false);
// `count` rows of a data set, drawn with replacement.
std::vector<RequestLength> sampled_lengths(std::span<const RequestLength> rows, int64_t count, uint64_t seed);

// Requests of one turn each. Arrivals and lengths have the same number.
Workload open_loop(std::span<const double> arrivals, std::span<const RequestLength> lengths);
Workload closed_loop(int64_t users, std::span<const RequestLength> lengths);
// Makes sessions of `turns` consecutive requests: every prompt of a later turn follows the prompt and the
// answer of the turn before. It arrives a thinking time after its last token: exponential with the mean
// `think_seconds`. The last session has the rest of the requests.
void form_sessions(Workload& workload, int64_t turns, double think_seconds, uint64_t seed);

}  // namespace shardscape
