// The quick forms of validate() say the same as validate() itself.
#include <QTest>
#include <algorithm>

#include "design/knobs/command_flags.h"
#include "design/validate/validate.h"
#include "support/random_designs.h"
#include "support/test_share.h"

using namespace shardscape;
using namespace shardscape::test;

class FirstErrorTest : public QObject {
  Q_OBJECT

 private slots:
  void randomDesigns() {
    std::mt19937 random(11);
    ValidatedParts known;
    int with_errors = 0, of_degrees = 0;
    for (int i = 0; i < cases(3000); ++i) {
      const Design design = random_design(random);
      const QByteArray command = QByteArray::fromStdString(command_line(design));
      const std::vector<Problem> problems = validate(design);
      const auto at = [&](std::string_view knob) {
        return std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
          return p.severity == Severity::Error && (knob.empty() || p.where == knob);
        });
      };
      const std::string first = first_error(design, &known);
      QVERIFY2(first.empty() ? !at("") : at(first), command);
      with_errors += !first.empty();
      for (const char* degree : {"tp", "cp", "pp", "dp"}) {
        QVERIFY2(has_error(design, degree, &known) == at(degree), command);
        of_degrees += at(degree);
      }
    }
    QVERIFY(with_errors > cases(3000) / 2);
    QVERIFY(of_degrees > cases(3000) / 10);
  }
};

QTEST_APPLESS_MAIN(FirstErrorTest)
#include "first_error_test.moc"
