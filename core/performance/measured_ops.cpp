#include "performance/measured_ops.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "base/units.h"

namespace shardscape {
namespace {

constexpr std::array kColumns{"op",       "us",       "dtype",   "m",     "n",         "k",         "batch",
                              "heads",    "kv_heads", "queries", "keys",  "head_dim",  "value_dim", "causal",
                              "backward", "window",   "bytes",   "ranks", "per_domain"};
constexpr std::array kCollectives{"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                  "broadcast",  "reduce",     "send_recv"};

template <typename List>
std::string joined(const List& list) {
  std::string out;
  for (const auto& item : list) out += (out.empty() ? "" : ", ") + std::string(item);
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (;;) {
    const size_t comma = line.find(',');
    out.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return out;
    line.remove_prefix(comma + 1);
  }
}

class OpsReader {
 public:
  OpsReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  MeasuredOps read() {
    while (next_line()) {
      if (columns_.empty())
        header();
      else
        row();
    }
    if (columns_.empty())
      fail(ProblemCode::CsvColumns, "the file has no header line with the names of the columns",
           "op,m,n,k,us");
    if (ops_.rows() == 0)
      fail(ProblemCode::CsvNoRows, "the file has no rows below its header line", "at least one measured op");
    for (const auto& [curve, sizes] : sizes_) {
      if (sizes.bytes.size() > 1) continue;
      line_ = sizes.line;
      fail(ProblemCode::CurveTooShort,
           "this " + std::get<0>(curve) + " of " + std::to_string(std::get<1>(curve)) +
               " ranks is measured with only one number of bytes, but a curve needs two",
           "another row with a different number of bytes");
    }
    return std::move(ops_);
  }

 private:
  [[noreturn]] void fail(ProblemCode code, const std::string& what, const std::string& accepted) const {
    throw Problem{code, name_ + ":" + std::to_string(line_), what, accepted};
  }

  // Moves to the next line with content.
  bool next_line() {
    while (!text_.empty()) {
      const size_t end = text_.find('\n');
      current_ = trimmed(text_.substr(0, end));
      text_ = end == std::string_view::npos ? std::string_view() : text_.substr(end + 1);
      ++line_;
      if (!current_.empty() && current_.front() != '#') return true;
    }
    return false;
  }

  void header() {
    const auto names = fields_of(current_);
    for (size_t i = 0; i < names.size(); ++i) {
      const std::string name(names[i]);
      if (std::find(kColumns.begin(), kColumns.end(), name) == kColumns.end())
        fail(ProblemCode::CsvColumns, "\"" + name + "\" is not a column", "columns of " + joined(kColumns));
      if (!columns_.emplace(name, i).second)
        fail(ProblemCode::CsvColumns, "column \"" + name + "\" occurs twice", "each column once");
    }
    for (const char* needed : {"op", "us"}) {
      if (!columns_.contains(needed))
        fail(ProblemCode::CsvColumns, "column \"" + std::string(needed) + "\" is missing",
             "op and us, and the sizes of the ops");
    }
  }

  std::string_view field(const char* name) const {
    const auto it = columns_.find(name);
    return it == columns_.end() ? std::string_view() : fields_[it->second];
  }

  double number(const char* name, double most) const {
    const std::string_view text = field(name);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value > 0 && value <= most)) {
      fail(ProblemCode::CsvRow,
           std::string(name) + (text.empty() ? " is missing" : " is \"" + std::string(text) + "\""),
           "a number above 0");
    }
    return value;
  }

  int64_t size(const char* name, int64_t least = 1) const {
    const std::string_view text = field(name);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > kMostSize) {
      fail(ProblemCode::CsvRow,
           std::string(name) + (text.empty() ? " is missing" : " is \"" + std::string(text) + "\""),
           "a whole number from " + std::to_string(least));
    }
    return value;
  }
  int64_t size_or(const char* name, int64_t fallback, int64_t least = 1) const {
    return field(name).empty() ? fallback : size(name, least);
  }

  // Products of the sizes of a row stay within 63 bits.
  void limit_product(std::initializer_list<int64_t> sizes) const {
    double product = 1;
    for (const int64_t one : sizes) product *= static_cast<double>(one);
    if (product >= 0x1p62)
      fail(ProblemCode::CsvRow, "the product of the sizes is " + significant(product),
           "sizes whose product is below 2^62");
  }

  bool flag(const char* name) const {
    const std::string_view text = field(name);
    if (text.empty() || text == "0" || text == "false") return false;
    if (text == "1" || text == "true") return true;
    fail(ProblemCode::CsvRow, std::string(name) + " is \"" + std::string(text) + "\"", "0 or 1");
  }

  DType dtype() const {
    const std::string text(field("dtype"));
    if (text.empty()) return DType::BF16;
    const auto type = dtype_from_name(text);
    if (!type || !is_arithmetic(*type)) {
      fail(ProblemCode::CsvRow, "dtype is \"" + text + "\"",
           "bfloat16, float16, float32, float8, float8_block, mxfp8 or nvfp4");
    }
    return *type;
  }

  void row() {
    fields_ = fields_of(current_);
    if (fields_.size() != columns_.size()) {
      fail(ProblemCode::CsvRow, "the row has " + std::to_string(fields_.size()) + " fields",
           std::to_string(columns_.size()) + ", one for each column");
    }
    const std::string op(field("op"));
    const double us = number("us", 1e12);
    if (op == "matmul" || op == "gemm") {
      MatmulShape s{size_or("batch", 1), size("m"), size("n"), size("k")};
      limit_product({s.batch, s.m, s.n, s.k});
      s.compute = dtype();
      s.output = s.compute == DType::FP32 ? DType::FP32 : DType::BF16;
      ops_.matmul.push_back({s, us, line_});
    } else if (op == "attention") {
      AttentionShape s;
      s.batch = size("batch");
      s.heads = size("heads");
      s.kv_heads = size_or("kv_heads", s.heads);
      s.queries = size("queries");
      s.keys = size_or("keys", s.queries);
      s.head_dim = size("head_dim");
      s.value_dim = size_or("value_dim", s.head_dim);
      s.causal = flag("causal");
      s.backward = flag("backward");
      s.window = size_or("window", 0, 0);
      limit_product({s.batch, s.heads, s.queries, s.keys, std::max(s.head_dim, s.value_dim)});
      s.compute = dtype();
      if (s.heads % s.kv_heads != 0)
        fail(ProblemCode::CsvRow, "kv_heads is " + std::to_string(s.kv_heads),
             "a divisor of heads, " + std::to_string(s.heads));
      ops_.attention.push_back({s, us});
    } else if (op == "memory") {
      ops_.memory.push_back({number("bytes", 1e15), us});
    } else if (std::find(kCollectives.begin(), kCollectives.end(), op) != kCollectives.end()) {
      const int64_t ranks = size("ranks", 2);
      const int64_t inside = size_or("per_domain", ranks);
      if (ranks % inside != 0)
        fail(ProblemCode::CsvRow, "per_domain is " + std::to_string(inside),
             "a divisor of ranks, " + std::to_string(ranks));
      ops_.collectives.push_back({op, ranks, inside, number("bytes", 1e15), us});
      Sizes& sizes = sizes_[{op, ranks, inside}];
      sizes.line = line_;
      sizes.bytes.insert(ops_.collectives.back().bytes);
    } else {
      fail(ProblemCode::CsvRow, "op is \"" + op + "\"", "matmul, attention, memory, " + joined(kCollectives));
    }
  }

  static constexpr int64_t kMostSize = int64_t{1} << 40;
  std::string_view text_, current_;
  const std::string& name_;
  int line_ = 0;
  struct Sizes {
    int line = 0;  // last line with this curve
    std::set<double> bytes;
  };
  // Key: op, ranks, ranks per domain.
  std::map<std::tuple<std::string, int64_t, int64_t>, Sizes> sizes_;
  std::map<std::string, size_t, std::less<>> columns_;
  std::vector<std::string_view> fields_;
  MeasuredOps ops_;
};

}  // namespace

Result<MeasuredOps> read_measured_ops(const std::string& text, const std::string& name) {
  try {
    return OpsReader(text, name).read();
  } catch (const Problem& problem) {
    return problem;
  }
}

std::optional<Problem> impossible_row(const MeasuredOps& ops, const Accelerator& accelerator,
                                      const std::string& name) {
  constexpr double kBoost = 1.25;  // clocks may exceed the clock at which the peak is stated
  for (const MeasuredMatmul& row : ops.matmul) {
    const MatmulShape& s = row.shape;
    if (s.compute == DType::FP32) continue;  // tensor cores may compute it with fewer bits
    const double rate = 2 * static_cast<double>(s.batch * s.m) * static_cast<double>(s.n) *
                        static_cast<double>(s.k) / (row.us * 1e-6),
                 peak = peak_flops(accelerator, s.compute);
    if (rate <= kBoost * peak) continue;
    return Problem{ProblemCode::FasterThanPeak, row.line > 0 ? name + ":" + std::to_string(row.line) : name,
                   grouped(s.m) + " x " + grouped(s.n) + " x " + grouped(s.k) + " in " + significant(row.us) +
                       " us is " + significant(rate * 1e-12) + " TFLOP/s, but the peak of " +
                       accelerator.name + " in " + std::string(dtype_name(s.compute)) + " is " +
                       significant(peak * 1e-12),
                   "microseconds of one run on " + accelerator.name};
  }
  return std::nullopt;
}

}  // namespace shardscape
