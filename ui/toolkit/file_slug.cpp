#include "ui/toolkit/file_slug.h"

#include <QCryptographicHash>
#include <QRegularExpression>
#include <algorithm>

namespace shardscape::ui {

QString slug(const QString& name) {
  static const QRegularExpression other("[^a-z0-9._]+");
  QString text = name.toLower().replace(other, "-");
  while (text.startsWith('-') || text.startsWith('.')) text.remove(0, 1);
  while (text.endsWith('-')) text.chop(1);
  if (!text.isEmpty()) return text;
  const auto is_word = [](QChar c) { return c.isLetterOrNumber(); };
  if (std::none_of(name.begin(), name.end(), is_word)) return QStringLiteral("bundle");
  // Different names have different files, also without a Latin letter.
  return QStringLiteral("bundle-") +
         QString::fromLatin1(
             QCryptographicHash::hash(name.toUtf8(), QCryptographicHash::Sha256).toHex().left(8));
}

}  // namespace shardscape::ui
