// Reads files with recorded requests.
#pragma once

#include <filesystem>
#include <string>

#include "base/problem.h"
#include "serving/requests/request.h"

namespace shardscape {

// The format follows from the first character of the text. A file may be compressed with gzip
// (base/compressed_file.h).
//
// CSV with a header. Columns, in any order: arrival_s, input_tokens, output_tokens, and if wanted
//   session       a name
//   parent        the previous turn: number of its row, the first row is 0. arrival_s is the thinking time.
//   priority      a whole number; the smallest is served first
//   the columns of `shardscape-cli serve --csv`, without effect
// The columns of published traces count as these: TIMESTAMP (a date and time; the first request arrives at
// 0),
//   ContextTokens, GeneratedTokens (Azure/AzurePublicDataset); Timestamp (seconds), Request tokens, Response
//   tokens (HPMLL/BurstGPT; Model, Total tokens, Log Type, Session ID and Elapsed time have no effect).
//   block_hashes  numbers, one per 512 prompt tokens, with spaces between them; 4-6 is short for 4 5 6.
//                 block_hashes_N: one per N tokens
// Mooncake's JSON Lines (kvcache-ai/Mooncake, FAST'25 traces): one object per line with timestamp
//   (milliseconds), input_length, output_length, and hash_ids of blocks of 512 tokens.
// A result of vllm bench with start_times (bench_file.h).
// A JSON array of objects with input_tokens, output_tokens and, if wanted, arrival_s. Texts of conversations
//   (ShareGPT) have no arrivals and are refused; read_lengths() reads them.
//
// No line is skipped, except empty ones. `name` is the name of the file in messages. A Problem names file and
// line, and the values that are accepted.
Result<Workload> parse_trace(const std::string& text, const std::string& name);
Result<Workload> read_trace(const std::filesystem::path& file);

}  // namespace shardscape
