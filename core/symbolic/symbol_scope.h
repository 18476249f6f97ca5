// Symbols that have another meaning in a part of a model: its layers of one kind may have sizes of their own.
#pragma once

#include <utility>
#include <vector>

#include "symbolic/expr.h"

namespace shardscape {

class SymbolScope {
 public:
  // Inside the scope, `meaning` stands for the symbol. Later meanings replace symbols of earlier ones, too.
  void add(Symbol symbol, Expr meaning) { meanings_.emplace_back(symbol, std::move(meaning)); }
  // An expression over the symbols of the model, as it reads inside the scope.
  Expr of(Expr expr) const {
    for (const auto& [symbol, meaning] : meanings_) expr = expr.substitute(symbol, meaning);
    return expr;
  }
  bool empty() const { return meanings_.empty(); }

 private:
  std::vector<std::pair<Symbol, Expr>> meanings_;
};

}  // namespace shardscape
