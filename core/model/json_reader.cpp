#include "model/json_reader.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

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
  std::vector<std::string> inside;  // path of each open object and list, with a dot at its end
  std::string key;                  // the key before this place
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const size_t end = end_of_string(text, at);
      const size_t next = text.find_first_not_of(" \t\r\n", end);
      if (next != std::string::npos && text[next] == ':' && !inside.empty()) {
        key = inside.back() + text.substr(at + 1, end - at - 2);
        if (key == path) return at;
      }
      at = end - 1;
    } else if (c == '{' || c == '[') {
      inside.push_back(inside.empty() ? "" : key + ".");
    } else if ((c == '}' || c == ']') && !inside.empty()) {
      key = inside.back();  // no key of its own: elements behind it are not members
      inside.pop_back();
    }
  }
  return std::nullopt;
}

// Builds the value of a text from the parser's events. The library's own builder compares each key with all
// keys before it, which takes seconds for an object with every module of a model.
class Builder {
 public:
  using json = nlohmann::ordered_json;

  json take() { return std::move(root_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(json::number_integer_t value) { return put(value); }
  bool number_unsigned(json::number_unsigned_t value) { return put(value); }
  bool number_float(json::number_float_t value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(json::binary_t& value) { return put(std::move(value)); }
  bool start_object(size_t) { return open(json::object()); }
  bool start_array(size_t) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  // Of equal keys the last value counts, in the place of the first.
  bool key(std::string& name) {
    Frame& frame = frames_.back();
    auto& members = frame.value->get_ref<json::object_t&>();
    const auto [known, fresh] = frame.keys.emplace(name, members.size());
    if (fresh) members.emplace_back(name, nullptr);
    slot_ = &members.begin()[static_cast<std::ptrdiff_t>(known->second)].second;
    return true;
  }
  template <class Exception>
  bool parse_error(size_t, const std::string&, const Exception& error) {
    throw error;
  }

 private:
  struct Frame {
    json* value;
    std::unordered_map<std::string, size_t> keys;  // of an object: position of each member
  };

  bool put(json value) {
    place() = std::move(value);
    return true;
  }
  // Where the next value belongs.
  json& place() {
    if (frames_.empty()) return root_;
    json* open = frames_.back().value;
    if (open->is_object()) return *slot_;
    open->push_back(nullptr);
    return open->back();
  }
  bool open(json value) {
    json& at = place();
    at = std::move(value);
    frames_.push_back({&at, {}});
    return true;
  }
  bool close() {
    frames_.pop_back();
    return true;
  }

  json root_;
  json* slot_ = nullptr;       // the member that the last key names
  std::vector<Frame> frames_;  // open objects and lists
};

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

// What the parser expected and found: "unexpected ','; expected ':'".
std::string reason_of(const nlohmann::ordered_json::parse_error& error) {
  const std::string text = error.what();
  const size_t dash = text.find(" - ");
  return dash == std::string::npos ? text : text.substr(dash + 3);
}

nlohmann::ordered_json parse(const std::string& text) {
  Builder builder;
  nlohmann::ordered_json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace

JsonFile::JsonFile(std::string text, std::string name, JsonDialect dialect)
    : text_(std::move(text)), name_(std::move(name)) {
  const bool python = dialect == JsonDialect::Python;
  const std::string quoted = python ? with_quoted_numbers(text_) : "";
  const std::string& parsed = python ? quoted : text_;
  try {
    root_ = parse(parsed);
  } catch (const nlohmann::ordered_json::parse_error& error) {
    const auto end = parsed.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, parsed.size()));
    // Each quoted number is three bytes longer than in the file.
    const auto longer = python ? 3 * static_cast<size_t>(std::count(parsed.begin(), end, kPythonNumber)) : 0;
    const size_t byte = error.byte - std::min(error.byte, longer);  // from 1
    size_t start = byte > 0 ? byte - 1 : 0;
    // A text that is read to its end starts at its first quote.
    if (start > 0 && start < text_.size() && text_[start] == '"')
      if (const size_t quote = text_.rfind('"', start - 1);
          quote != std::string::npos && text_.find('\n', quote) > start)
        start = quote;
    fail(ProblemCode::JsonSyntax, place_at(start),
         "the file is not JSON from byte " + std::to_string(byte) + " on: " + reason_of(error),
         "a JSON object in braces");
  } catch (const nlohmann::ordered_json::exception& error) {  // a number outside the range of a double
    fail(ProblemCode::JsonValueUnreadable, "", std::string("the file cannot be read: ") + error.what(),
         "numbers within the range of a double");
  }
  if (!root_.is_object())
    fail(ProblemCode::JsonNotAnObject, "", "the file holds no JSON object", "an object in braces");
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
  for (const auto& [key, value] : in.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string accepted = "one of";
    for (const char* k : keys) accepted += std::string(" \"") + k + "\"";
    fail(ProblemCode::JsonUnknownKey, key_place(value),
         "\"" + key + "\" is not a known key" + did_you_mean(key, {keys.begin(), keys.end()}), accepted);
  }
}

}  // namespace shardscape
