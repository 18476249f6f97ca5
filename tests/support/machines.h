// Machines of the tests: for designs that exceed any scale-up domain, and every one of the catalogue.
#pragma once

#include <QtTest>
#include <utility>
#include <vector>

#include "design/knobs/knobs.h"
#include "hardware/accelerator.h"
#include "hardware/network_catalogue.h"
#include "timing/machine_of.h"

namespace shardscape::test {

inline Machine machine_for(const char* accelerator,
                           const std::vector<std::pair<const char*, const char*>>& settings = {}) {
  Design design = default_design();
  design.parallel.dp = 1024;  // exceeds every scale-up domain
  for (const auto& [id, value] : settings)
    if (const auto problem = set_knob(design, *find_knob(id), value))
      qFatal("%s", to_string(*problem).c_str());
  design.cluster.accelerator = accelerator;
  return machine_of(design);
}

// Test data with the columns accelerator and network (identifiers): every accelerator on its usual network,
// and every network with its first accelerator.
inline void machine_rows() {
  QTest::addColumn<QByteArray>("accelerator");
  QTest::addColumn<QByteArray>("network");
  for (const Accelerator& a : accelerators())
    QTest::addRow("%s", a.id.c_str()) << QByteArray::fromStdString(a.id) << QByteArray("auto");
  for (const NetworkEntry& n : networks())
    QTest::addRow("%s", n.id.c_str())
        << QByteArray::fromStdString(n.accelerators.front()) << QByteArray::fromStdString(n.id);
}

}  // namespace shardscape::test
