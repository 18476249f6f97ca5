// Reads JSON data files and reports errors with file and line. Private to core's .cpp files, because this
// header includes the JSON library.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json_text.h"
#include "base/problem.h"
#include "model/source_place.h"

namespace shardscape {

// Thrown inside a reader and caught at its public interface, which skips the file and reports the Problems.
struct DataError {
  Problem problem;
  std::vector<Problem> more{};  // further mistakes, behind the first
};

// The mistakes of parts of a file that can be read one without the other. Further parts are not read after
// kMost mistakes.
class DataMistakes {
 public:
  static constexpr size_t kMost = 20;

  template <class Read>
  void collect(const Read& read) {
    if (all_.size() >= kMost) return;
    try {
      read();
    } catch (const DataError& error) {
      all_.push_back(error.problem);
      all_.insert(all_.end(), error.more.begin(), error.more.end());
    }
  }
  // Throws a DataError with all mistakes so far, if there are any.
  void raise() const {
    if (!all_.empty()) throw DataError{all_.front(), {all_.begin() + 1, all_.end()}};
  }

 private:
  std::vector<Problem> all_;
};

// Python's json module also writes the numbers Infinity, -Infinity and NaN. A Python file gives each as a
// text that starts with kPythonNumber.
enum class JsonDialect : uint8_t { Standard, Python };
inline constexpr char kPythonNumber = '\x7f';

// A parsed JSON file. Objects keep the order of the file, because the order of a block's inputs is the order
// of call arguments.
class JsonFile {
 public:
  // name: the name of the file in messages. Throws DataError if the text is not a JSON object.
  JsonFile(std::string text, std::string name, JsonDialect dialect = JsonDialect::Standard);

  const nlohmann::ordered_json& root() const { return root_; }
  const std::string& name() const { return name_; }
  // Line of the first occurrence of a quoted string (a key or an op line); 1 if absent.
  int line_of(const std::string& quoted) const;
  // Line of a member by its path, "text_config.hidden_size". Of an absent member: the line of the innermost
  // object on the path; 1 without one.
  int line_of_member(const std::string& path) const;
  // Where a value of root() starts, and the key of a member. A value of another file: the first line.
  SourcePlace place(const nlohmann::ordered_json& value) const;
  SourcePlace key_place(const nlohmann::ordered_json& member) const;
  // Throws a DataError at the place.
  [[noreturn]] static void fail(ProblemCode code, const SourcePlace& at, const std::string& what,
                                const std::string& accepted);
  // Throws a DataError at the line of `near`.
  [[noreturn]] void fail(ProblemCode code, const std::string& near, const std::string& what,
                         const std::string& accepted) const;

  // Typed access to a member. A missing or wrongly typed member throws a DataError with the key and the
  // accepted values. The _or variants return the fallback for a missing member.
  const nlohmann::ordered_json& object(const nlohmann::ordered_json& in, const std::string& key) const;
  const nlohmann::ordered_json& array(const nlohmann::ordered_json& in, const std::string& key) const;
  std::string text(const nlohmann::ordered_json& in, const std::string& key) const;
  std::string text_or(const nlohmann::ordered_json& in, const std::string& key,
                      const std::string& fallback) const;
  int64_t integer(const nlohmann::ordered_json& in, const std::string& key) const;
  int64_t integer_or(const nlohmann::ordered_json& in, const std::string& key, int64_t fallback) const;
  bool boolean_or(const nlohmann::ordered_json& in, const std::string& key, bool fallback) const;
  // Throws DataError on a key outside the list, because a misspelt key must not be ignored.
  void only(const nlohmann::ordered_json& in, std::span<const char* const> keys) const;
  void only(const nlohmann::ordered_json& in, std::initializer_list<const char*> keys) const {
    only(in, std::span(keys.begin(), keys.size()));
  }

 private:
  const nlohmann::ordered_json* find(const nlohmann::ordered_json& in, const std::string& key) const;
  // parsed: the text, with quotes around numbers that only Python writes.
  [[noreturn]] void fail_parse(const JsonMistake& mistake, const std::string& parsed) const;
  int line_at(size_t byte) const;
  SourcePlace place_at(size_t byte) const;
  // Throws a DataError at the member, or at the object that lacks it.
  [[noreturn]] void fail_member(const nlohmann::ordered_json& in, const std::string& key,
                                const std::string& what, const std::string& accepted) const;
  // Bytes where values, and the keys of members, start. Made at the first request.
  struct Bytes {
    size_t value = 0, key = 0;
  };
  using Places = std::unordered_map<const nlohmann::ordered_json*, Bytes>;
  const Places& places() const;
  std::string text_, name_;
  nlohmann::ordered_json root_;
  mutable std::optional<Places> places_;
};

}  // namespace shardscape
