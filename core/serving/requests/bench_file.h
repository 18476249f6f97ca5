// Requests in the JSON files of benchmark clients: results of vllm bench, and conversations of ShareGPT.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/problem.h"
#include "serving/requests/lengths.h"

namespace shardscape {

struct BenchRequests {
  std::vector<RequestLength> lengths;
  std::vector<double> starts;  // seconds from the first start; empty: the file has none
};

// A result of `vllm bench serve --save-result --save-detailed` (vllm/benchmarks/serve.py): input_lens,
// output_lens and, of later versions, start_times. Nothing: the text is another kind of file. A Problem names
// the first request that failed or has no tokens.
Result<std::optional<BenchRequests>> bench_result(const std::string& text, const std::string& name);

// ShareGPT: an array of objects with "conversations". As vllm bench does (vllm/benchmarks/datasets.py,
// ShareGPTDataset), the first turn of each is a prompt and the second one its answer; conversations of one
// turn have no request. Tokens are characters (code points) over characters_per_token, rounded up.
Result<std::vector<RequestLength>> sharegpt_lengths(const std::string& text, const std::string& name,
                                                    double characters_per_token);

}  // namespace shardscape
