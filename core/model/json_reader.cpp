#include "model/json_reader.h"

#include <algorithm>

namespace shardscape {

JsonFile::JsonFile(std::string text, std::string name) : text_(std::move(text)), name_(std::move(name)) {
  try {
    root_ = nlohmann::ordered_json::parse(text_);
  } catch (const nlohmann::ordered_json::parse_error& error) {
    const size_t byte = std::min(error.byte, text_.size());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
    throw DataError{{ProblemCode::JsonSyntax, name_ + ":" + std::to_string(line),
                     "the file is not JSON from byte " + std::to_string(error.byte) + " on",
                     "a JSON object in braces"}};
  } catch (const nlohmann::ordered_json::exception& error) {  // a number outside the range of a double
    fail(ProblemCode::JsonValueUnreadable, "", std::string("the file cannot be read: ") + error.what(),
         "numbers within the range of a double");
  }
  if (!root_.is_object())
    fail(ProblemCode::JsonNotAnObject, "", "the file holds no JSON object", "an object in braces");
}

int JsonFile::line_of(const std::string& quoted) const {
  const size_t at = quoted.empty() ? 0 : text_.find(nlohmann::ordered_json(quoted).dump());
  if (at == std::string::npos) return 1;
  return static_cast<int>(1 +
                          std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
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
    fail(ProblemCode::JsonMember, key, "\"" + key + "\" is missing or not an object", "an object in braces");
  return *value;
}

const nlohmann::ordered_json& JsonFile::array(const nlohmann::ordered_json& in,
                                              const std::string& key) const {
  const nlohmann::ordered_json* value = find(in, key);
  if (!value || !value->is_array())
    fail(ProblemCode::JsonMember, key, "\"" + key + "\" is missing or not a list", "a list in brackets");
  return *value;
}

std::string JsonFile::text(const nlohmann::ordered_json& in, const std::string& key) const {
  const nlohmann::ordered_json* value = find(in, key);
  if (!value || !value->is_string())
    fail(ProblemCode::JsonMember, key, "\"" + key + "\" is missing or not a text", "a text in quotes");
  return value->get<std::string>();
}

std::string JsonFile::text_or(const nlohmann::ordered_json& in, const std::string& key,
                              const std::string& fallback) const {
  return find(in, key) ? text(in, key) : fallback;
}

int64_t JsonFile::integer(const nlohmann::ordered_json& in, const std::string& key) const {
  const nlohmann::ordered_json* value = find(in, key);
  if (!value || !value->is_number_integer())
    fail(ProblemCode::JsonMember, key, "\"" + key + "\" is missing or not a whole number", "a whole number");
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
    fail(ProblemCode::JsonMember, key, "\"" + key + "\" is neither true nor false", "true or false");
  return value->get<bool>();
}

void JsonFile::only(const nlohmann::ordered_json& in, std::span<const char* const> keys) const {
  for (const auto& [key, value] : in.items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string accepted = "one of";
    for (const char* k : keys) accepted += std::string(" \"") + k + "\"";
    fail(ProblemCode::JsonUnknownKey, key, "\"" + key + "\" is not known here", accepted);
  }
}

}  // namespace shardscape
