#include "model/json_reader.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/shown_text.h"
#include "base/suggest.h"

namespace shardscape {
namespace {

// The byte behind the string that starts at this quote.
size_t end_of_string(const std::string& text, size_t quote) {
  size_t at = quote + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// The text with quotes around the numbers that only Python writes.
std::string with_quoted_numbers(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t size = 0;
    if (text[at] == '"') {
      size = end_of_string(text, at) - at;
    } else {
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"})
        if (size == 0 && text.compare(at, word.size(), word) == 0) {
          size = word.size();
          out += std::string("\"") + kPythonNumber + std::string(word) + "\"";
          at += size;
        }
      if (size > 0) continue;
      size = 1;
    }
    out.append(text, at, size);
    at += size;
  }
  return out;
}

// The byte of the key with this path.
std::optional<size_t> find_member(const std::string& text, const std::string& path) {
  constexpr size_t kElsewhere = std::string::npos;
  // How much of the path leads to the members of each open object and list, and to those of the value that
  // follows: kElsewhere if the path does not lead there.
  std::vector<size_t> inside;
  size_t next_inside = kElsewhere;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const size_t end = end_of_string(text, at);
      const size_t next = text.find_first_not_of(" \t\r\n", end);
      if (next != std::string::npos && text[next] == ':' && !inside.empty()) {
        const std::string_view key = std::string_view(text).substr(at + 1, end - at - 2);
        const size_t before = inside.back();
        const bool on_path = before != kElsewhere && path.compare(before, key.size(), key) == 0;
        const size_t behind = on_path ? before + key.size() : kElsewhere;
        if (behind == path.size()) return at;
        next_inside = on_path && path[behind] == '.' ? behind + 1 : kElsewhere;
      }
      at = end - 1;
    } else if (c == '{' || c == '[') {
      inside.push_back(inside.empty() ? 0 : next_inside);
    } else if ((c == '}' || c == ']') && !inside.empty()) {
      next_inside = kElsewhere;  // elements behind it are not members
      inside.pop_back();
    }
  }
  return std::nullopt;
}

// Walks over a text and the value that the text describes, and reports where every value starts.
class PlaceFinder {
 public:
  using json = nlohmann::ordered_json;
  // found(value, byte of the value, byte of its key)
  template <class Found>
  static void walk(const std::string& text, const json& root, const Found& found) {
    PlaceFinder finder;
    finder.next_ = &root;
    for (size_t at = 0; at < text.size();) {
      const char c = text[at];
      const size_t end = c == '"' ? end_of_string(text, at) : end_of_word(text, at);
      if (c == '"' && finder.expects_key_) {
        finder.key(text.substr(at, end - at), at);
      } else if (std::string_view("]}").find(c) != std::string_view::npos) {
        finder.close();
      } else if (c == ',') {
        finder.comma();
      } else if (std::string_view(": \t\r\n").find(c) == std::string_view::npos) {
        if (finder.next_) found(finder.next_, at, finder.key_at_);
        if (c == '{' || c == '[') finder.open(c);
      }
      at = end;
    }
  }

 private:
  struct Frame {
    const json* value;  // nullptr: of a member whose key comes again
    bool object;
    size_t index;  // of the present element, or of the member that probably comes next
  };
  static size_t end_of_word(const std::string& text, size_t at) {
    constexpr const char* kEnds = ",:[]{}\" \t\r\n";
    if (std::string_view(kEnds).find(text[at]) != std::string_view::npos) return at + 1;
    return std::min(text.find_first_of(kEnds, at), text.size());
  }
  void open(char bracket) {
    const bool object = bracket == '{';
    const bool fits = next_ && (object ? next_->is_object() : next_->is_array());
    frames_.push_back({fits ? next_ : nullptr, object, 0});
    expects_key_ = object;
    if (!object) element();
  }
  void close() {
    if (!frames_.empty()) frames_.pop_back();
    expects_key_ = false;
    next_ = nullptr;
  }
  void comma() {
    if (frames_.empty()) return;
    expects_key_ = frames_.back().object;
    if (expects_key_) return;
    ++frames_.back().index;
    element();
  }
  void element() {
    const Frame& list = frames_.back();
    next_ = list.value && list.index < list.value->size() ? &(*list.value)[list.index] : nullptr;
  }
  void key(const std::string& quoted, size_t at) {
    expects_key_ = false;
    key_at_ = at;
    next_ = nullptr;
    Frame& frame = frames_.back();
    if (!frame.value) return;
    const auto& members = frame.value->get_ref<const json::object_t&>();
    const std::string name = quoted.find('\\') == std::string::npos ? quoted.substr(1, quoted.size() - 2)
                                                                    : json::parse(quoted).get<std::string>();
    for (size_t tries = 0; tries < members.size(); ++tries, ++frame.index)
      if (const auto& member = members.begin()[static_cast<std::ptrdiff_t>(frame.index % members.size())];
          member.first == name) {
        next_ = &member.second;
        return;
      }
  }

  std::vector<Frame> frames_;
  const json* next_ = nullptr;  // the value that comes next
  size_t key_at_ = 0;
  bool expects_key_ = false;
};

}  // namespace

JsonFile::JsonFile(std::string text, std::string name, JsonDialect dialect)
    : text_(std::move(text)), name_(std::move(name)) {
  const bool python = dialect == JsonDialect::Python;
  const std::string quoted = python ? with_quoted_numbers(text_) : "";
  const std::string& parsed = python ? quoted : text_;
  // Python's reader accepts a key twice, and published files have some.
  const auto repeated = python ? RepeatedKeys::LastCounts : RepeatedKeys::Refused;
  if (const auto mistake = parse_json(parsed, root_, {.repeated = repeated})) fail_parse(*mistake, parsed);
  if (!root_.is_object())
    fail(ProblemCode::JsonNotAnObject, "", "the file holds no JSON object", "an object in braces");
}

void JsonFile::fail_parse(const JsonMistake& mistake, const std::string& parsed) const {
  const auto end = parsed.begin() + static_cast<std::ptrdiff_t>(std::min(mistake.byte, parsed.size()));
  // Each quoted number is three bytes longer than in the file.
  const auto longer = &parsed == &text_
                          ? 0
                          : 3 * static_cast<size_t>(std::count(parsed.begin(), end, kPythonNumber));
  const size_t byte = mistake.byte - std::min(mistake.byte, longer);
  if (mistake.code != ProblemCode::JsonSyntax || mistake.accepted != kJsonAccepted)
    fail(mistake.code, place_at(byte), mistake.what, mistake.accepted);
  size_t start = byte;
  // A text that is read to its end starts at its first quote.
  if (start > 0 && start < text_.size() && text_[start] == '"')
    if (const size_t quote = text_.rfind('"', start - 1);
        quote != std::string::npos && text_.find('\n', quote) > start)
      start = quote;
  fail(ProblemCode::JsonSyntax, place_at(start),
       "the file is not JSON from byte " + std::to_string(byte + 1) + " on: " + mistake.what,
       "a JSON object in braces");
}

int JsonFile::line_at(size_t byte) const {
  const auto end = text_.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text_.size()));
  return static_cast<int>(1 + std::count(text_.begin(), end, '\n'));
}

SourcePlace JsonFile::place_at(size_t byte) const {
  const size_t end = std::min(byte, text_.size());
  const size_t before = end == 0 ? std::string::npos : text_.rfind('\n', end - 1);
  const auto begin = text_.begin() +
                     static_cast<std::ptrdiff_t>(before == std::string::npos ? 0 : before + 1);
  const auto characters = std::count_if(begin, text_.begin() + static_cast<std::ptrdiff_t>(end), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  return {name_, line_at(byte), static_cast<int>(1 + characters)};
}

const JsonFile::Places& JsonFile::places() const {
  if (places_) return *places_;
  places_.emplace();
  PlaceFinder::walk(text_, root_, [this](const nlohmann::ordered_json* value, size_t at, size_t key) {
    (*places_)[value] = {at, key};
  });
  return *places_;
}

SourcePlace JsonFile::place(const nlohmann::ordered_json& value) const {
  const auto it = places().find(&value);
  return it == places().end() ? SourcePlace{name_, 1, 0} : place_at(it->second.value);
}

SourcePlace JsonFile::key_place(const nlohmann::ordered_json& member) const {
  const auto it = places().find(&member);
  return it == places().end() ? SourcePlace{name_, 1, 0} : place_at(it->second.key);
}

void JsonFile::fail(ProblemCode code, const SourcePlace& at, const std::string& what,
                    const std::string& accepted) {
  throw DataError{{code, place_text(at), what, accepted}};
}

void JsonFile::fail_member(const nlohmann::ordered_json& in, const std::string& key, const std::string& what,
                           const std::string& accepted) const {
  const nlohmann::ordered_json* value = find(in, key);
  fail(ProblemCode::JsonMember, place(value ? *value : in), what, accepted);
}

int JsonFile::line_of(const std::string& quoted) const {
  const size_t at = quoted.empty() ? 0 : text_.find(nlohmann::ordered_json(quoted).dump());
  return at == std::string::npos ? 1 : line_at(at);
}

int JsonFile::line_of_member(const std::string& path) const {
  for (std::string part = path; !part.empty();) {
    if (const auto at = find_member(text_, part)) return line_at(*at);
    const size_t dot = part.rfind('.');
    part = dot == std::string::npos ? "" : part.substr(0, dot);
  }
  return 1;
}

void JsonFile::fail(ProblemCode code, const std::string& near, const std::string& what,
                    const std::string& accepted) const {
  throw DataError{{code, name_ + ":" + std::to_string(line_of(near)), what, accepted}};
}

const nlohmann::ordered_json* JsonFile::find(const nlohmann::ordered_json& in, const std::string& key) const {
  const auto it = in.find(key);
  return it == in.end() ? nullptr : &*it;
}

const nlohmann::ordered_json& JsonFile::object(const nlohmann::ordered_json& in,
                                               const std::string& key) const {
  const nlohmann::ordered_json* value = find(in, key);
  if (!value || !value->is_object())
    fail_member(in, key, "\"" + key + "\" is missing or not an object", "an object in braces");
  return *value;
}

const nlohmann::ordered_json& JsonFile::array(const nlohmann::ordered_json& in,
                                              const std::string& key) const {
  const nlohmann::ordered_json* value = find(in, key);
  if (!value || !value->is_array())
    fail_member(in, key, "\"" + key + "\" is missing or not a list", "a list in brackets");
  return *value;
}

std::string JsonFile::text(const nlohmann::ordered_json& in, const std::string& key) const {
  const nlohmann::ordered_json* value = find(in, key);
  if (!value || !value->is_string())
    fail_member(in, key, "\"" + key + "\" is missing or not a string", "a string in quotes");
  return value->get<std::string>();
}

std::string JsonFile::text_or(const nlohmann::ordered_json& in, const std::string& key,
                              const std::string& fallback) const {
  return find(in, key) ? text(in, key) : fallback;
}

int64_t JsonFile::integer(const nlohmann::ordered_json& in, const std::string& key) const {
  const nlohmann::ordered_json* value = find(in, key);
  if (!value || !value->is_number_integer())
    fail_member(in, key, "\"" + key + "\" is missing or not a whole number", "a whole number");
  if (value->is_number_unsigned() && value->get<uint64_t>() > uint64_t{INT64_MAX})
    fail_member(in, key, "\"" + key + "\" is " + value->dump(), "a whole number below 2^63");
  return value->get<int64_t>();
}

int64_t JsonFile::integer_or(const nlohmann::ordered_json& in, const std::string& key,
                             int64_t fallback) const {
  return find(in, key) ? integer(in, key) : fallback;
}

bool JsonFile::boolean_or(const nlohmann::ordered_json& in, const std::string& key, bool fallback) const {
  const nlohmann::ordered_json* value = find(in, key);
  if (!value) return fallback;
  if (!value->is_boolean())
    fail_member(in, key, "\"" + key + "\" is neither true nor false", "true or false");
  return value->get<bool>();
}

void JsonFile::only(const nlohmann::ordered_json& in, std::span<const char* const> keys) const {
  if (!in.is_object())
    fail(ProblemCode::JsonMember, place(in), shortened(in.dump()) + " is not an object",
         "an object in braces");
  for (const auto& [key, value] : in.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string accepted = "one of";
    for (const char* k : keys) accepted += std::string(" \"") + k + "\"";
    fail(ProblemCode::JsonUnknownKey, key_place(value),
         "\"" + key + "\" is not a known key" + did_you_mean(key, {keys.begin(), keys.end()}), accepted);
  }
}

}  // namespace shardscape
