#include "profile/trace_splitter.h"

#include <algorithm>
#include <array>

namespace shardscape {
namespace {

constexpr size_t kPart = size_t{1} << 18;
constexpr int kDeepest = 256;  // nesting of a value; events of profiles have 4 levels

// A mistake in the text, as an exception inside this file only.
struct Broken {
  std::string what, accepted;
};
struct Stopped {};

// Characters outside of strings at which the state of the scanner changes.
constexpr std::array<bool, 256> kStructural = [] {
  std::array<bool, 256> marks{};
  for (const char c : {'"', '{', '}', '[', ']', ','}) marks[static_cast<unsigned char>(c)] = true;
  return marks;
}();

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

class Splitter {
 public:
  Splitter(CompressedFile& file, const std::string& name, const TraceParts& parts,
           const std::stop_token& stop)
      : file_(file), name_(name), parts_(parts), stop_(stop) {}

  std::optional<Problem> run() {
    try {
      const char first = next_sign();
      if (first == '[')
        events();
      else if (first == '{')
        members();
      else
        throw Broken{"the text is no JSON object", kAccepted};
      if (!found_) throw Broken{"the file has no \"traceEvents\"", kAccepted};
    } catch (const Broken& broken) {
      if (problem_) return problem_;
      return Problem(ProblemCode::ProfileFormat, name_ + ":" + std::to_string(line()), broken.what,
                     broken.accepted);
    } catch (const Stopped&) {}
    return std::nullopt;
  }

 private:
  static constexpr const char* kAccepted = "a trace that torch.profiler exports: export_chrome_trace()";

  int64_t line() const {
    return lines_ + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n') + 1;
  }

  // Reads more text behind the present window. Drops the text in front of `keep_`. False at the end.
  bool fill() {
    if (stop_.stop_requested()) throw Stopped{};
    const size_t drop = keeping_ ? keep_ : at_;
    lines_ += std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(drop), '\n');
    text_.erase(0, drop);
    end_ -= drop;
    at_ -= drop;
    keep_ = 0;
    if (keeping_ && end_ > kLongestTracePart)
      throw Broken{"a part of the trace is longer than 4 MiB", "events of a few kilobytes"};
    text_.resize(end_ + kPart + kSplitterPadding);
    const auto got = file_.read(text_.data() + end_, kPart);
    if (const auto* problem = std::get_if<Problem>(&got)) {
      problem_ = *problem;
      throw Broken{};
    }
    end_ += std::get<size_t>(got);
    text_.resize(end_ + kSplitterPadding);
    return std::get<size_t>(got) > 0;
  }
  bool more() { return at_ < end_ || fill(); }
  [[noreturn]] void ended() const {
    throw Broken{found_ ? "the file ends after " + std::to_string(count_) + " complete events"
                        : "the file ends before its first event",
                 "a complete file"};
  }

  // The next sign that is no space; it stays unread.
  char next_sign() {
    while (more()) {
      if (!is_space(text_[at_])) return text_[at_];
      ++at_;
    }
    ended();
  }
  void expect(char sign) {
    if (next_sign() != sign) throw Broken{std::string("'") + sign + "' is missing here", "valid JSON"};
    ++at_;
  }

  // Passes a string whose opening quote has been read.
  void pass_string() {
    while (more()) {
      const char* begin = text_.data() + at_;
      const char* end = text_.data() + end_;
      const char* c = begin;
      while (c < end && *c != '"' && *c != '\\') ++c;
      at_ += static_cast<size_t>(c - begin);
      if (c == end) continue;
      ++at_;
      if (*c == '"') return;
      if (!more()) break;
      ++at_;
    }
    ended();
  }

  // Passes one value. A number or a word ends in front of a comma, a bracket or a space.
  void pass_value() {
    int depth = 0;
    next_sign();
    while (more()) {
      const char* begin = text_.data() + at_;
      const char* end = text_.data() + end_;
      const char* c = begin;
      while (c < end && !kStructural[static_cast<unsigned char>(*c)]) ++c;
      at_ += static_cast<size_t>(c - begin);
      if (c == end) continue;
      const char sign = *c;  // passing a string may move the window
      const bool closes = sign == '}' || sign == ']';
      if (depth == 0 && (closes || sign == ',')) return;
      ++at_;
      if (sign == '"') pass_string();
      if (sign == '{' || sign == '[') ++depth;
      if (depth > kDeepest) throw Broken{"the values are nested too deeply", "at most 256 levels"};
      if (closes) --depth;
      if (depth == 0 && sign != ',') return;
    }
    ended();
  }
  // Passes one value and gives its text.
  std::string_view value() {
    next_sign();
    keep_ = at_;
    keeping_ = true;
    pass_value();
    keeping_ = false;
    return {text_.data() + keep_, at_ - keep_};
  }
  void check(const std::string& wrong, size_t length) {
    if (wrong.empty()) return;
    at_ -= length;  // the line at which the part begins
    throw Broken{wrong, kAccepted};
  }
  // After a value: true if another one follows.
  bool another(char close) {
    const char sign = next_sign();
    if (sign != ',' && sign != close)
      throw Broken{std::string("',' or '") + close + "' is missing here", "valid JSON"};
    ++at_;
    return sign == ',';
  }

  void events() {
    found_ = true;
    expect('[');
    if (next_sign() == ']') {
      ++at_;
      return;
    }
    do {
      if (next_sign() != '{') throw Broken{"an event is no JSON object", kAccepted};
      const std::string_view text = value();
      check(parts_.event(text), text.size());
      ++count_;
    } while (another(']'));
  }
  void members() {
    expect('{');
    if (next_sign() == '}') return;
    do {
      if (next_sign() != '"') throw Broken{"a key is missing here", "valid JSON"};
      std::string key(value());
      key = key.substr(1, key.size() - 2);
      expect(':');
      if (key == "traceEvents") {
        if (next_sign() != '[') throw Broken{"\"traceEvents\" is no list", kAccepted};
        events();
      } else if (parts_.wanted(key)) {
        const std::string_view text = value();
        check(parts_.member(key, text), text.size());
      } else {
        pass_value();
      }
    } while (another('}'));
  }

  CompressedFile& file_;
  const std::string& name_;
  const TraceParts& parts_;
  const std::stop_token& stop_;
  std::string text_;         // the window, and the padding
  size_t at_ = 0, end_ = 0;  // next sign to read; end of the window
  size_t keep_ = 0;          // begin of the value that is being read
  bool keeping_ = false, found_ = false;
  int64_t lines_ = 0, count_ = 0;  // lines in front of the window; events so far
  std::optional<Problem> problem_;
};

}  // namespace

std::optional<Problem> split_trace(CompressedFile& file, const std::string& name, const TraceParts& parts,
                                   const std::stop_token& stop) {
  return Splitter(file, name, parts, stop).run();
}

}  // namespace shardscape
