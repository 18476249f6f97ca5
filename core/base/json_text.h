// The one reader of JSON text that comes from outside. It has limits, and its messages name the line. And the
// writer of documents.
#pragma once

#include <cstdint>
#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/problem.h"

namespace shardscape {

// Levels of objects and lists. Known files have fewer than 20. Destructors, copies and readers recurse, so
// that a file of 100,000 levels would overflow the stack.
inline constexpr size_t kDeepestJson = 100;
// Bytes of a text. A parsed text needs about ten times its size.
inline constexpr size_t kLongestJson = size_t{1} << 30;

// Whether an object may have a key twice. Python keeps the last value in the place of the first.
enum class RepeatedKeys : uint8_t { Refused, LastCounts };

struct JsonRules {
  RepeatedKeys repeated = RepeatedKeys::Refused;
  size_t longest = kLongestJson;
};

// What a text with a mistake of syntax should be.
inline constexpr const char* kJsonAccepted = "JSON";

struct JsonMistake {
  ProblemCode code;
  size_t byte;  // where it is, from 0
  std::string what, accepted;
};

// Parses a whole text into `out`: nlohmann::json or nlohmann::ordered_json. Numbers are within the range of a
// double, texts are UTF-8. `out` is undefined after a mistake.
template <class Json>
std::optional<JsonMistake> parse_json(std::string_view text, Json& out, const JsonRules& rules = {});

// The same with a Problem at "where:line".
template <class Json>
std::optional<Problem> read_json(std::string_view text, const std::string& where, Json& out,
                                 const JsonRules& rules = {});

// An integer. Throws the library's type_error for other values, also for 1e300, whose conversion is
// undefined.
template <class Json>
int64_t integer_of(const Json& value) {
  return value.template get_ref<const typename Json::number_integer_t&>();
}

// Adds a member whose key is new. operator[] of an ordered object compares the key with all others.
template <class Json>
void append_member(Json& object, std::string key, Json value) {
  object.template get_ref<typename Json::object_t&>().emplace_back(std::move(key), std::move(value));
}

// A JSON document with a line break at its end. Bytes that are not UTF-8, as names of files may have, become
// U+FFFD.
template <class Json>
std::string json_document(const Json& value, int indent = 2);

// The reason in an exception of the JSON library, without the library's name for it.
std::string json_reason(const std::exception& error);

}  // namespace shardscape
