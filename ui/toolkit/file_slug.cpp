#include "ui/toolkit/file_slug.h"

#include <QRegularExpression>

namespace shardscape::ui {

QString slug(const QString& name) {
  static const QRegularExpression other("[^a-z0-9._]+");
  QString text = name.toLower().replace(other, "-");
  while (text.startsWith('-') || text.startsWith('.')) text.remove(0, 1);
  while (text.endsWith('-')) text.chop(1);
  return text.isEmpty() ? QStringLiteral("bundle") : text;
}

}  // namespace shardscape::ui
