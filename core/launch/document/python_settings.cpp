// Files of settings in Python: assignments of literals. Statements that are none become computed arguments
// with the name "line 12".

#include "base/real_text.h"
#include "launch/document/flat_values.h"
#include "launch/document/python_expression.h"

namespace shardscape {
namespace {

using Kind = PythonValue::Kind;
using Variables = std::map<std::string, PythonValue>;

std::string plain(const PythonValue& value) {
  switch (value.kind) {
    case Kind::None: return "null";
    case Kind::Bool: return value.number != 0 ? "true" : "false";
    case Kind::Text:
    case Kind::Computed: return value.text;
    case Kind::List:
    case Kind::Dict: return "";
    case Kind::Number: break;
  }
  return value.whole ? fixed_text(value.number, 0) : real_text(value.number, 15);
}

bool is_plain(const PythonValue& value) {
  return value.kind != Kind::List && value.kind != Kind::Dict && value.kind != Kind::Computed;
}

void collect(const PythonValue& value, const std::string& path, FlatValues& out,
             std::set<std::string>& computed) {
  const bool dict = value.kind == Kind::Dict, list = value.kind == Kind::List;
  std::vector<std::string> parts;
  for (const PythonValue& item : value.items)
    if (is_plain(item)) parts.push_back(plain(item));
  if (list && parts.size() == value.items.size()) return out.add(path, FlatValues::spaced(parts), value.line);
  for (size_t i = 0; i < value.items.size(); ++i)
    collect(value.items[i], FlatValues::join(path, dict ? value.names[i] : std::to_string(i)), out, computed);
  if (!value.items.empty()) return;
  out.add(path, plain(value), value.line);
  if (value.kind == Kind::Computed) computed.insert(path);
}

PythonValue not_followed(std::string source, int line) {
  PythonValue out;
  out.kind = Kind::Computed;
  out.text = std::move(source);
  out.line = line;
  return out;
}

// Statements that state no settings: a text alone, an import of a module.
bool states_nothing(std::string_view statement) {
  return statement.starts_with('"') || statement.starts_with('\'') || statement.starts_with("import ") ||
         statement.starts_with("pass");
}

// One statement, at its first sign.
void read_statement(PythonSource& in, bool indented, Variables& variables) {
  const int line = in.line();
  const size_t begin = in.position();
  const std::string name = in.take_name();
  in.skip_blanks(false);
  const bool assigns = !name.empty() && in.sign() == '=' && in.sign(1) != '=';
  if (assigns && !indented) {
    in.take("=");
    PythonValue value = in.value(variables);
    value.line = line;
    if (in.at_end() || in.sign() == '\n' || in.sign() == ';') {
      variables[name] = std::move(value);
      return;
    }
  }
  in.go_back(begin);
  const std::string source = in.skip_statement();
  if (assigns)
    variables[name] = not_followed(source, line);
  else if (!states_nothing(source))
    variables["line " + std::to_string(line)] = not_followed(source, line);
}

}  // namespace

LaunchDocument read_python_settings(const std::string& text) {
  PythonSource in(text);
  Variables variables;
  while (true) {
    in.skip_blanks(true);
    while (in.take(";")) in.skip_blanks(true);
    if (in.at_end()) break;
    const size_t at = in.position();
    const size_t before = text.find_last_not_of(" \t", at > 0 ? at - 1 : 0);
    const bool begins_line = at == 0 || before == std::string::npos || text[before] == '\n';
    const bool indented = begins_line && at > 0 && text[at - 1] != '\n';
    read_statement(in, indented, variables);
    if (in.position() == at) in.skip_statement();
    if (in.position() == at) throw DocumentError("the text is not Python", in.line());
  }
  FlatValues values;
  std::set<std::string> computed;
  for (const auto& [name, value] : variables) collect(value, name, values, computed);
  LaunchDocument out = values.take();
  out.computed = std::move(computed);
  return out;
}

}  // namespace shardscape
