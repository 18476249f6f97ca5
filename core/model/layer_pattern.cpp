#include "model/layer_pattern.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>

#include "base/number_text.h"
#include "base/shown_text.h"
#include "base/units.h"
#include "model/model_limits.h"

namespace shardscape {
namespace {

constexpr const char*
    kAccepted = "kinds of layers separated by commas, such as dense*3, moe* or (linear*3, full)*";

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  Result<NamedPattern> read() {
    items(out_.layers.prefix, 0);
    if (!problem_ && at_ < text_.size()) fail(quoted_character(at_) + " is not expected here");
    if (problem_) return *problem_;
    if (fills_) {  // what stands behind the filling item was read into the prefix
      out_.layers.suffix.assign(out_.layers.prefix.begin() + before_, out_.layers.prefix.end());
      out_.layers.prefix.resize(static_cast<size_t>(before_));
    }
    return std::move(out_);
  }

 private:
  void fail(const std::string& what) { fail_at(at_, what); }
  void fail_at(size_t at, const std::string& what) {
    if (problem_) return;
    problem_ = Problem(ProblemCode::LayerPatternSyntax, "layer_pattern",
                       "column " + std::to_string(at + 1) + ": " + what, kAccepted);
  }

  std::string quoted_character(size_t at) const {
    return "\"" + std::string(first_character(text_.substr(at))) + "\"";
  }

  char next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool skip(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  void items(std::vector<int>& to, int depth) {
    do {
      item(to, depth);
      if (problem_) return;
    } while (skip(','));
  }

  void item(std::vector<int>& to, int depth) {
    std::vector<int> one;
    const bool group = next() == '(';
    if (group) {
      const size_t open = at_++;
      constexpr int kMostNested = 8;
      if (depth == kMostNested) return fail_at(open, "parentheses are nested too deeply");
      items(one, depth + 1);
      if (!problem_ && !skip(')'))
        next() ? fail_at(at_, "a comma is missing between two kinds")
               : fail_at(open, "this parenthesis is not closed");
    } else {
      one.push_back(name());
    }
    if (problem_) return;
    const size_t star = (next(), at_);
    if (!skip('*')) return append(to, one, 1, star);
    next();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])))
      return append(to, one, number(), star);
    if (depth > 0) return fail_at(star, "\"*\" inside parentheses needs a number");
    if (fills_) return fail_at(star, "only one \"*\" can fill the model; this one needs a number");
    fills_ = true;
    before_ = static_cast<std::ptrdiff_t>(to.size());
    out_.layers.repeat = std::move(one);
  }

  int name() {
    const size_t begin = at_;
    if (begin == text_.size()) return fail("a kind of layer is missing"), 0;
    if (!starts_name(text_[begin]))
      return fail(quoted_character(begin) + " does not start a kind of layer"), 0;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    const auto known = std::find(out_.names.begin(), out_.names.end(), word);
    if (known != out_.names.end()) return static_cast<int>(known - out_.names.begin());
    out_.names.push_back(word);
    out_.columns.push_back(begin + 1);
    return static_cast<int>(out_.names.size()) - 1;
  }

  int64_t number() {
    int64_t value = 0;
    const size_t begin = at_;
    const char* const first = text_.data() + at_;
    const auto [end, fault] = std::from_chars(first, text_.data() + text_.size(), value);
    at_ += static_cast<size_t>(end - first);
    if (fault != std::errc() || value < 1 || value > kMaxLayers)
      fail_at(begin, "a number of layers must be from 1 to " + grouped(kMaxLayers));
    return value;
  }

  void append(std::vector<int>& to, const std::vector<int>& one, int64_t times, size_t at) {
    if (problem_) return;
    if (static_cast<int64_t>(to.size()) + static_cast<int64_t>(one.size()) * times > kMaxLayers)
      return fail_at(at, "the pattern has more than " + grouped(kMaxLayers) + " layers");
    for (int64_t i = 0; i < times; ++i) to.insert(to.end(), one.begin(), one.end());
  }

  std::string_view text_;
  size_t at_ = 0;
  NamedPattern out_;
  bool fills_ = false;
  std::ptrdiff_t before_ = 0;  // layers before the item that fills the model
  std::optional<Problem> problem_;
};

using Names = std::span<const std::string>;

// "dense*3, moe": one item for each run of equal layers.
std::string item_list(Names layers) {
  std::string out;
  for (size_t begin = 0, end = 0; begin < layers.size(); begin = end) {
    while (end < layers.size() && layers[end] == layers[begin]) ++end;
    out += (begin > 0 ? ", " : "") + layers[begin];
    if (end - begin > 1) out += "*" + std::to_string(end - begin);
  }
  return out;
}

// [begin, end) repeats its first `period` layers.
struct Repeat {
  int items = 0;  // of the text
  size_t begin = 0, period = 0, end = 0;
  auto operator<=>(const Repeat&) const = default;
};

std::string repeating_list(Names layers, const Repeat& of) {
  const Names first = layers.subspan(of.begin, of.period);
  std::string out = item_list(layers.first(of.begin));
  if (of.begin > 0) out += ", ";
  out += of.period == 1 ? first.front() + "*" : "(" + item_list(first) + ")*";
  if (of.end < layers.size()) out += ", " + item_list(layers.subspan(of.end));
  return out;
}

}  // namespace

std::string layer_pattern_text(const std::vector<std::string>& layers) {
  constexpr size_t kLongestPeriod = 24;
  const size_t count = layers.size();
  std::vector<int> runs(count + 1);  // that begin in the first layers
  for (size_t i = 0; i < count; ++i) runs[i + 1] = runs[i] + (i == 0 || layers[i] != layers[i - 1]);
  const auto items = [&](size_t begin, size_t end) {
    return begin == end ? 0 : runs[end] - runs[begin + 1] + 1;
  };
  // The fewest items, then the first layer that repeats, then the shortest period.
  Repeat best{items(0, count) + 1};
  for (size_t period = 1; period <= std::min(kLongestPeriod, count); ++period) {
    size_t end = count;
    for (size_t begin = count - period + 1; begin-- > 0;) {
      if (begin + period < count && layers[begin + period] != layers[begin]) end = begin + period;
      if (end - begin < 2 * period && count != 1) continue;
      best = std::min(
          best, {items(0, begin) + items(begin, begin + period) + items(end, count), begin, period, end});
    }
  }
  return best.period > 0 ? repeating_list(layers, best) : item_list(layers);
}

int LayerPattern::at(int64_t layer, int64_t layers) const {
  const auto before = static_cast<int64_t>(prefix.size()), behind = static_cast<int64_t>(suffix.size());
  if (repeat.empty()) return prefix[static_cast<size_t>(layer) % prefix.size()];
  if (layer < before) return prefix[static_cast<size_t>(layer)];
  if (layer >= layers - behind) return suffix[static_cast<size_t>(layer - (layers - behind))];
  return repeat[static_cast<size_t>(layer - before) % repeat.size()];
}

void add_to(CacheKey& key, const LayerPattern& pattern) {
  for (const std::vector<int>* part : {&pattern.prefix, &pattern.repeat, &pattern.suffix}) {
    key.add(static_cast<int64_t>(part->size()));
    for (int kind : *part) key.add(int64_t{kind});
  }
}

Result<NamedPattern> parse_layer_pattern(std::string_view text) { return PatternReader(text).read(); }

bool is_layer_name(std::string_view text) {
  return !text.empty() && starts_name(text.front()) && std::all_of(text.begin(), text.end(), in_name);
}

}  // namespace shardscape
