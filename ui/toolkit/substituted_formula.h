// An expression with numbers in place of symbols, otherwise written as Expr::text() writes it.
#pragma once

#include <QString>

#include "symbolic/binding.h"
#include "symbolic/expr.h"

namespace shardscape::ui {

// "8·b·S·D" becomes "8·1·8,192·4,096". Every entry of the inspector uses this.
QString substituted(const Expr& expr, const Binding& binding);

}  // namespace shardscape::ui
