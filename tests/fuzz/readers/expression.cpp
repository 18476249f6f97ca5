#include "fuzz/reader.h"
#include "symbolic/expr.h"

namespace shardscape::fuzz {

std::string expression(std::string_view input) {
  const auto parsed = Expr::parse(input);
  const auto* expr = std::get_if<Expr>(&parsed);
  if (!expr) return std::get<ParseError>(parsed).message;
  expr->latex();
  const auto again = Expr::parse(expr->text());
  require(std::holds_alternative<Expr>(again), "a printed formula is read again");
  require(std::get<Expr>(again) == *expr, "a printed formula is the same formula");
  return {};
}

}  // namespace shardscape::fuzz
