// Rules of validation as rows: a change to the default design, the problem that it makes, and fixes that mend
// it. Good designs as rows: a change that makes no problem.
#pragma once

#include <QMetaType>
#include <functional>
#include <string>
#include <vector>

#include "design/validate/validate.h"

namespace shardscape::test {

using Change = std::function<void(Design&)>;

inline constexpr bool error = false, note = true;  // severity of a rule

std::string listing(const std::vector<Problem>& problems);
// Sets the fix's knobs; every setting has to be accepted.
void apply(Design& design, const Fix& fix);

// Of a data function: the columns of a rule, then its rows. The problem has this code and place, its accepted
// values contain `accepted`, and there are at least so many fixes.
void add_rule_columns();
void row(const char* name, const Change& change, bool note, ProblemCode code, const char* where,
         const char* accepted, int fixes);
// Of the test function: the design has this problem alone, and every fix removes it.
enum class Notes { Counted, Ignored };  // Ignored: an error may come with notes
void check_rule(Notes notes = Notes::Counted);

// The same for designs without a problem.
void add_good_columns();
void good_row(const char* name, const Change& change);
void check_good();

}  // namespace shardscape::test

Q_DECLARE_METATYPE(shardscape::test::Change)
