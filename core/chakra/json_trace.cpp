#include "chakra/json_trace.h"

#include <algorithm>

#include "chakra/chakra.h"
#include "chakra/json_node.h"

namespace shardscape {
namespace {

constexpr int kDeepest = 100;  // levels of a value; every known form has fewer than 10

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

JsonTrace::JsonTrace(std::string_view file) : file_(file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (file_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

bool JsonTrace::is_json(std::string_view file) {
  JsonTrace trace(file);
  trace.skip_space();
  if (trace.at_ >= file.size()) return false;
  // A binary trace may start with the length 123 or 91, which are { and [. The next byte tells.
  if (file[trace.at_] != '{' && file[trace.at_] != '[') return false;
  ++trace.at_;
  trace.skip_space();
  if (trace.at_ == file.size()) return true;
  const char c = file[trace.at_];
  return c == '"' || c == '{' || c == '}' || c == ']';
}

const char* JsonTrace::form() const {
  switch (form_) {
    case Form::Unknown:
    case Form::Objects: return "JSON of Chakra's jsonizer";
    case Form::Nodes: return "JSON with a list of nodes";
    case Form::WorkloadGraph: return "JSON of Chakra's feeder";
    case Form::PyTorch: return "execution trace of PyTorch";
  }
  return "";
}

bool JsonTrace::bad(size_t at, const std::string& what) {
  const auto line = 1 + std::count(file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  problem_ = "line " + std::to_string(line) + ": " + what;
  done_ = true;
  return false;
}

void JsonTrace::skip_space() {
  while (at_ < file_.size() && is_space(file_[at_])) ++at_;
}

bool JsonTrace::read_text(std::string_view& text) {
  const size_t begin = at_ + 1;
  for (size_t i = begin; i < file_.size(); ++i) {
    if (file_[i] == '\\') {
      ++i;
    } else if (file_[i] == '"') {
      text = file_.substr(begin, i - begin);
      at_ = i + 1;
      return true;
    }
  }
  return bad(at_, "a text has no closing quote: the file is cut off");
}

// Moves behind the value at at_. Brackets are counted; the parser checks the rest.
bool JsonTrace::skip_value() {
  const size_t begin = at_;
  int depth = 0;
  std::string_view text;
  while (at_ < file_.size()) {
    const char c = file_[at_];
    if (c == '"') {
      if (!read_text(text)) return false;
    } else if (c == '{' || c == '[') {
      if (++depth > kDeepest)
        return bad(begin, "a value has more than " + std::to_string(kDeepest) + " levels");
      ++at_;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at_ > begin || bad(at_, "a value is missing");
      ++at_;
      --depth;
    } else if (depth == 0 && (c == ',' || is_space(c))) {
      return at_ > begin || bad(at_, "a value is missing");
    } else {
      ++at_;
      continue;  // a number or a word may go on
    }
    if (depth == 0) return true;
  }
  return depth == 0 || bad(begin, "a bracket is not closed: the file is cut off");
}

// Looks for the list of nodes in the first object. Without such a list, the objects of the file are the
// nodes.
bool JsonTrace::open_list() {
  opened_ = true;
  skip_space();
  const size_t begin = at_;
  if (file_[at_] == '[') {
    form_ = Form::Nodes;
    in_list_ = true;
    ++at_;
    return true;
  }
  ++at_;
  for (;;) {
    skip_space();
    if (at_ < file_.size() && file_[at_] == ',') {
      ++at_;
      continue;
    }
    if (at_ >= file_.size() || file_[at_] != '"') break;
    std::string_view key, value;
    if (!read_text(key)) return false;
    skip_space();
    if (at_ >= file_.size() || file_[at_] != ':') return bad(at_, "a key is not followed by a colon");
    ++at_;
    skip_space();
    const bool list = at_ < file_.size() && file_[at_] == '[';
    if (list && (key == "workload_graph" || key == "nodes")) {
      form_ = key == "nodes" ? (version_.empty() ? Form::Nodes : Form::PyTorch) : Form::WorkloadGraph;
      in_list_ = true;
      ++at_;
      return true;
    }
    if (key == "schema" && at_ < file_.size() && file_[at_] == '"') {
      if (!read_text(value)) return false;
      version_ = value;
    } else if (!skip_value()) {
      return false;
    }
  }
  at_ = begin;
  form_ = Form::Objects;
  version_.clear();
  return true;
}

bool JsonTrace::next_object() {
  if (done_ || (!opened_ && !open_list())) return false;
  for (;; ++at_) {
    skip_space();
    if (at_ >= file_.size()) {
      done_ = true;
      return in_list_ ? bad(file_.size(), "the list of nodes is not closed: the file is cut off") : false;
    }
    if (file_[at_] != ',') break;
  }
  if (in_list_ && file_[at_] == ']') {
    done_ = true;
    return false;
  }
  if (file_[at_] != '{') return bad(at_, "a node must be an object {...}");
  const size_t begin = at_;
  if (!skip_value()) return false;
  object_ = file_.substr(begin, at_ - begin);
  return true;
}

bool JsonTrace::read(RawNode& node, bool& is_node) {
  const auto begin = static_cast<size_t>(object_.data() - file_.data());
  texts_.clear();
  std::string what;
  const JsonNode read = read_json_node(object_, form_ == Form::PyTorch, node, texts_, version_, what);
  if (read == JsonNode::Bad) return bad(begin, what);
  is_node = read == JsonNode::Node;
  return true;
}

JsonTrace::Step JsonTrace::next(RawNode& node) {
  for (bool is_node = false; !is_node;) {
    if (!next_object()) return problem_.empty() ? Step::End : Step::Bad;
    if (!read(node, is_node)) return Step::Bad;
  }
  return Step::Node;
}

}  // namespace shardscape
