// Which products one kernel makes, and what they are called together.
#include <QTest>
#include <algorithm>
#include <map>

#include "graph/kernel_label.h"
#include "plan/report.h"
#include "support/designs.h"

using namespace shardscape;
using namespace shardscape::test;

class FuseTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Forward and backward, and one kernel of what is packed has one name.
  void productsOfOneKernelAreNamedTogether() {
    const auto r = make_report(preset_design("llama3-8b", 2, 1, 1));
    const Segment& layer = r->graph().segments[1];
    std::map<std::string, size_t> parts;
    for (OpId id = 0; id < static_cast<OpId>(layer.ops.size()); ++id) {
      if (layer.op(id).kind != OpKind::Einsum) continue;
      const std::vector<OpId>& ops = layer.kernel(id)->ops;
      parts[kernel_label(layer, id)] = static_cast<size_t>(std::count_if(
          ops.begin(), ops.end(), [&](OpId of) { return layer.op(of).kind == OpKind::Einsum; }));
    }
    const std::map<std::string, size_t> expected{{"QKV projection", 3},
                                                 {"QKV projection, gradient", 3},
                                                 {"QKV projection, weight gradient", 3},
                                                 {"Gate and up projection", 2},
                                                 {"Gate and up projection, gradient", 2},
                                                 {"Gate and up projection, weight gradient", 2},
                                                 {"Output projection", 1},
                                                 {"Output projection, gradient", 1},
                                                 {"Output projection, weight gradient", 1},
                                                 {"Down projection", 1},
                                                 {"Down projection, gradient", 1},
                                                 {"Down projection, weight gradient", 1}};
    std::string found;
    for (const auto& [label, count] : parts) found += label + " " + std::to_string(count) + "\n";
    QVERIFY2(parts == expected, found.c_str());
  }
};

QTEST_APPLESS_MAIN(FuseTest)
#include "fuse_test.moc"
