#include "ui/inspector/inspection_text.h"

#include <QStringList>

namespace shardscape::ui {

QString inspectedValueText(const InspectedValue& value) {
  QStringList lines{value.label};
  if (!value.formula.isEmpty()) lines << "  " + value.formula;
  if (!value.substituted.isEmpty() && value.substituted != value.formula) lines << "  = " + value.substituted;
  if (!value.value.isEmpty()) lines << "  = " + value.value;
  return lines.join('\n');
}

QString inspectionText(const Inspection& inspection) {
  QStringList blocks;
  blocks << (inspection.subtitle.isEmpty() ? inspection.title
                                           : inspection.title + "\n" + inspection.subtitle);
  const QString why = inspection.why.isEmpty() ? QString() : inspection.why_title + "\n" + inspection.why;
  const auto lines = [&](const QVector<QPair<QString, QString>>& facts) {
    QStringList out;
    for (const auto& [name, text] : facts) out << name + "\t" + text;
    if (!out.isEmpty()) blocks << out.join('\n');
  };
  lines(inspection.figures);
  if (inspection.why_first && !why.isEmpty()) blocks << why;
  for (const InspectedValue& value : inspection.values) blocks << inspectedValueText(value);
  lines(inspection.rows);
  if (!inspection.links.isEmpty()) {
    QStringList links;
    for (const InspectedLink& link : inspection.links) links << link.label + "\t" + link.text;
    blocks << links.join('\n');
  }
  if (!inspection.more.isEmpty()) {
    QStringList more{inspection.more_title};
    for (const auto& [name, text] : inspection.more) more << name + "\t" + text;
    blocks << more.join('\n');
  }
  if (!inspection.why_first && !why.isEmpty()) blocks << why;
  return blocks.join("\n\n") + "\n";
}

}  // namespace shardscape::ui
