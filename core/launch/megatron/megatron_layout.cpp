#include "launch/megatron/megatron_layout.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace shardscape {
namespace {

constexpr size_t kLongest = 100'000;  // signs of a layout without repetitions
constexpr int kDeepest = 20;          // nested brackets

class Expander {
 public:
  explicit Expander(std::string_view text) : text_(text) {}

  // The layout without brackets, commas and repetitions.
  std::optional<std::string> run() {
    std::optional<std::string> out = sequence(0);
    return at_ == text_.size() ? out : std::nullopt;
  }

 private:
  std::optional<std::string> sequence(int depth) {
    std::string out;
    while (at_ < text_.size() && text_[at_] != ')') {
      const char c = text_[at_++];
      if (c == ',' || c == ' ') continue;
      std::string item(1, c);
      if (c == '(') {
        const auto inside = depth < kDeepest ? sequence(depth + 1) : std::nullopt;
        if (!inside || at_ >= text_.size()) return std::nullopt;
        ++at_;  // ")"
        item = *inside;
      } else if (std::string_view("EtmL|").find(c) == std::string_view::npos) {
        return std::nullopt;
      }
      const auto count = times();
      if (!count || item.size() * *count + out.size() > kLongest) return std::nullopt;
      for (size_t i = 0; i < *count && !item.empty(); ++i) out += item;
    }
    return out;
  }

  // "*3"; 1 without it.
  std::optional<size_t> times() {
    if (at_ >= text_.size() || text_[at_] != '*') return 1;
    size_t out = 0;
    const char* const last = text_.data() + text_.size();
    const auto [end, error] = std::from_chars(text_.data() + at_ + 1, last, out);
    if (error != std::errc() || out > kLongest) return std::nullopt;
    at_ = static_cast<size_t>(end - text_.data());
    return out;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::optional<MegatronLayout> read_megatron_layout(std::string_view text) {
  const std::optional<std::string> signs = Expander(text).run();
  if (!signs || signs->empty()) return std::nullopt;
  MegatronLayout out;
  out.layers.push_back(0);
  for (const char c : *signs)
    if (c == '|')
      out.layers.push_back(0);
    else if (c == 't')
      ++out.layers.back();
  const size_t last = signs->rfind('|');
  const std::string_view on_last = std::string_view(*signs).substr(last == std::string::npos ? 0 : last + 1);
  const auto all_on_last = [&](char sign) {
    return std::count(signs->begin(), signs->end(), sign) == std::count(on_last.begin(), on_last.end(), sign);
  };
  out.usual = signs->front() == 'E' && on_last.ends_with('L') && all_on_last('m') && all_on_last('L');
  return out;
}

}  // namespace shardscape
