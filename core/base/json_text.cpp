#include "base/json_text.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/shown_text.h"

namespace shardscape {
namespace {

constexpr const char* kDeepestAccepted = "at most 100 levels of objects and lists";
static_assert(kDeepestJson == 100);

// An iterator over a text that tells how far the parser has read.
struct Cursor {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  reference operator*() const { return *at; }
  Cursor& operator++() {
    *reached = ++at;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& other) const { return at == other.at; }

  const char* at;
  const char** reached;
};

// The text between two marks; to the end without the second mark.
std::string between(const std::string& text, std::string_view first, std::string_view last) {
  const size_t begin = text.find(first);
  if (begin == std::string::npos) return {};
  const size_t from = begin + first.size(), end = text.find(last, from);
  return text.substr(from, end == std::string::npos ? std::string::npos : end - from);
}

// What the parser found: "a text has no closing quote".
std::string syntax_reason(const std::string& library, std::string_view word) {
  constexpr std::pair<const char*, const char*> kPlain[] = {
      {"ill-formed UTF-8", "a text is not UTF-8"},
      {"missing closing quote", "a text has no closing quote"},
      {"control character", "a text holds a line break or another control character"},
      {"surrogate", "a text holds half of a pair of \\u characters"},
      {"must be followed by 4 hex digits", "\\u is not followed by four hexadecimal digits"},
      {"forbidden character after backslash", "a text holds a backslash before an unknown letter"},
      {"unexpected end of input", "the text ends too early"}};
  for (const auto& [part, plain] : kPlain)
    if (library.find(part) != std::string::npos) return plain;
  for (const char* part : {"invalid literal", "invalid number"})
    if (library.find(part) != std::string::npos) return "unexpected \"" + shortened(word) + "\"";
  return between(library, " - ", "; last read");
}

// Builds the value of a text from the parser's events. The library's own builder compares each key with all
// keys before it, which takes seconds for an object with every module of a model.
template <class Json>
class Builder {
 public:
  Builder(std::string_view text, const char* const& reached, RepeatedKeys repeated)
      : text_(text), reached_(reached), repeated_(repeated) {}

  Json take() { return std::move(root_); }
  std::optional<JsonMistake> mistake() { return std::move(mistake_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(typename Json::number_integer_t value) { return put(value); }
  bool number_unsigned(typename Json::number_unsigned_t value) { return put(value); }
  bool number_float(typename Json::number_float_t value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(typename Json::binary_t& value) { return put(std::move(value)); }
  bool start_object(size_t) { return open(Json::object()); }
  bool start_array(size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    Frame& frame = frames_.back();
    auto& members = frame.value->template get_ref<typename Json::object_t&>();
    bool fresh = false;
    if constexpr (kOrdered) {
      const auto [known, added] = frame.keys.emplace(name, members.size());
      if (added) members.emplace_back(name, nullptr);
      slot_ = &members.begin()[static_cast<std::ptrdiff_t>(known->second)].second;
      fresh = added;
    } else {
      const auto [member, added] = members.emplace(name, nullptr);
      slot_ = &member->second;
      fresh = added;
    }
    name_ = name;
    if (fresh || repeated_ == RepeatedKeys::LastCounts) return true;
    return fail(ProblemCode::JsonSyntax, quote_before(here()),
                "the key \"" + shortened(name) + "\" is there twice", "one value per key");
  }
  template <class Exception>
  bool parse_error(size_t position, const std::string& token, const Exception& error) {
    constexpr int kOutOfRange = 406;
    const size_t end = std::min(position, text_.size()), byte = end - std::min<size_t>(end, 1);
    if (error.id == kOutOfRange)
      return fail(ProblemCode::JsonValueUnreadable, end - std::min(end, token.size()),
                  (name_.empty() ? "" : "\"" + shortened(name_) + "\": ") + "the number " + shortened(token) +
                      " is out of range",
                  "numbers within the range of a double");
    return fail(ProblemCode::JsonSyntax, byte, syntax_reason(error.what(), word_at(byte)), kJsonAccepted);
  }

 private:
  static constexpr bool kOrdered = std::is_same_v<Json, nlohmann::ordered_json>;
  struct Frame {
    Json* value;
    std::unordered_map<std::string, size_t> keys{};  // of an ordered object: position of each member
  };

  size_t here() const { return static_cast<size_t>(reached_ - text_.data()); }
  std::string_view word_at(size_t byte) const {
    constexpr const char* kEnds = ",:[]{}\" \t\r\n";
    const size_t before = byte == 0 ? std::string_view::npos : text_.find_last_of(kEnds, byte - 1);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return text_.substr(begin, text_.find_first_of(kEnds, std::max(byte, begin + 1)) - begin);
  }
  // The quote that opens the text before this byte.
  size_t quote_before(size_t end) const {
    size_t at = end < 2 ? 0 : text_.rfind('"', end - 2);
    while (at != std::string_view::npos && at > 0 && text_[at - 1] == '\\') at = text_.rfind('"', at - 1);
    return at == std::string_view::npos ? 0 : at;
  }
  bool fail(ProblemCode code, size_t byte, std::string what, std::string accepted) {
    mistake_ = JsonMistake{code, byte, std::move(what), std::move(accepted)};
    return false;
  }
  bool put(Json value) {
    place() = std::move(value);
    return true;
  }
  // Where the next value belongs.
  Json& place() {
    if (frames_.empty()) return root_;
    Json* open = frames_.back().value;
    if (open->is_object()) return *slot_;
    open->push_back(nullptr);
    return open->back();
  }
  bool open(Json value) {
    if (frames_.size() == kDeepestJson)
      return fail(
          ProblemCode::JsonSyntax, here() - 1,
          "objects and lists are inside each other on more than " + std::to_string(kDeepestJson) + " levels",
          kDeepestAccepted);
    Json& at = place();
    at = std::move(value);
    frames_.push_back({&at});
    return true;
  }
  bool close() {
    frames_.pop_back();
    return true;
  }

  std::string_view text_;
  const char* const& reached_;
  RepeatedKeys repeated_;
  Json root_;
  Json* slot_ = nullptr;       // the member that the last key names
  std::string name_;           // the last key
  std::vector<Frame> frames_;  // open objects and lists
  std::optional<JsonMistake> mistake_;
};

}  // namespace

template <class Json>
std::optional<JsonMistake> parse_json(std::string_view text, Json& out, const JsonRules& rules) {
  if (text.size() > rules.longest)
    return JsonMistake{ProblemCode::JsonValueUnreadable, 0,
                       "the text has " + std::to_string(text.size()) + " bytes",
                       "at most " + std::to_string(rules.longest) + " bytes"};
  const char* reached = text.data();
  Builder<Json> builder(text, reached, rules.repeated);
  const Cursor begin{text.data(), &reached}, end{text.data() + text.size(), &reached};
  if (!Json::sax_parse(begin, end, &builder)) return builder.mistake();
  out = builder.take();
  return std::nullopt;
}

template <class Json>
std::optional<Problem> read_json(std::string_view text, const std::string& where, Json& out,
                                 const JsonRules& rules) {
  const auto mistake = parse_json(text, out, rules);
  if (!mistake) return std::nullopt;
  const auto lines = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mistake->byte),
                                '\n');
  const bool syntax = mistake->code == ProblemCode::JsonSyntax && mistake->accepted == kJsonAccepted;
  return Problem{mistake->code, where + ":" + std::to_string(1 + lines),
                 (syntax ? "the text is not JSON: " : "") + mistake->what, mistake->accepted};
}

template <class Json>
std::string json_document(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string json_reason(const std::exception& error) {
  const std::string text = error.what();
  const size_t end = text.starts_with("[json.exception.") ? text.find("] ") : std::string::npos;
  return end == std::string::npos ? text : text.substr(end + 2);
}

template std::optional<JsonMistake> parse_json(std::string_view, nlohmann::json&, const JsonRules&);
template std::optional<JsonMistake> parse_json(std::string_view, nlohmann::ordered_json&, const JsonRules&);
template std::optional<Problem> read_json(std::string_view, const std::string&, nlohmann::json&,
                                          const JsonRules&);
template std::optional<Problem> read_json(std::string_view, const std::string&, nlohmann::ordered_json&,
                                          const JsonRules&);
template std::string json_document(const nlohmann::json&, int);
template std::string json_document(const nlohmann::ordered_json&, int);

}  // namespace shardscape
