// An expression with its numbers put in, in the shape of Expr::text().
#pragma once

#include <QString>

#include "symbolic/binding.h"
#include "symbolic/expr.h"

namespace shardscape::ui {

// "8·b·S·D" with the report's numbers put in: "8·1·8,192·4,096". Used by every inspector entry.
QString substituted(const Expr& expr, const Binding& binding);

}  // namespace shardscape::ui
