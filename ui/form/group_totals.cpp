#include "ui/form/group_totals.h"

#include <QCoreApplication>

#include "base/units.h"

namespace shardscape::ui {
namespace {

QString counted(int64_t count, const char* one, const char* many) {
  return QString::fromStdString(grouped(count)) + " " +
         QCoreApplication::translate("form", count == 1 ? one : many);
}

}  // namespace

QString groupTotal(const Report& report, KnobGroup group) {
  const auto words = [](const std::string& number, const char* unit) {
    return QString::fromStdString(number) + " " + QCoreApplication::translate("form", unit);
  };
  switch (group) {
    case KnobGroup::Model: return words(format_count(report.model_parameters.value), "parameters");
    case KnobGroup::Parallelism: return counted(report.ranks, "rank", "ranks");
    case KnobGroup::Workload: return words(format_count(report.tokens_per_step), "tokens");
    case KnobGroup::Cluster: {
      const int64_t per_node = report.design.cluster.gpus_per_node;
      return per_node < 1 ? QString() : counted((report.ranks + per_node - 1) / per_node, "node", "nodes");
    }
  }
  return {};
}

}  // namespace shardscape::ui
