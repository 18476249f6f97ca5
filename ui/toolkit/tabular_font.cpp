#include "ui/toolkit/tabular_font.h"

#include <QFontDatabase>
#include <QFontMetricsF>
#include <QRawFont>
#include <QVector>
#include <QtEndian>

namespace shardscape::ui {
namespace {

// Tables of an OpenType font, by the specification's "Font Tables" chapter.
constexpr const char* kTables[] = {"CFF ", "CFF2", "GDEF", "GPOS", "GSUB", "OS/2", "cmap",
                                   "cvt ", "fpgm", "gasp", "glyf", "head", "hhea", "hmtx",
                                   "kern", "loca", "maxp", "name", "post", "prep"};

quint16 read16(const QByteArray& table, qsizetype at) {
  return at + 2 <= table.size() ? qFromBigEndian<quint16>(table.constData() + at) : quint16{0};
}

template <class T>
void append(QByteArray& out, T value) {
  const T big = qToBigEndian(value);
  out.append(reinterpret_cast<const char*>(&big), sizeof big);
}

// GSUB header: major, minor, script list, feature list offset; feature list: count, then (tag, offset) each.
bool enable_tabular(QByteArray& gsub) {
  const quint16 list = read16(gsub, 6);
  const quint16 count = read16(gsub, list);
  bool found = false;
  for (int i = 0; i < count; ++i) {
    const qsizetype record = list + 2 + 6 * i;
    if (record + 4 > gsub.size()) return false;
    const QByteArray tag = gsub.mid(record, 4);
    if (tag == "clig") return false;  // the new tag is in use: two features would have the same tag
    if (tag != "tnum") continue;
    gsub.replace(record, 4, "clig");
    found = true;
  }
  return found;
}

QByteArray utf16(const QString& text) {
  QByteArray bytes;
  for (const QChar c : text) append(bytes, static_cast<quint16>(c.unicode()));
  return bytes;
}

// Another name with the same length, so that no offset changes.
QString other_name(const QString& family) {
  QString name = family;
  name[name.size() - 1] = name.endsWith('T') ? QChar('t') : QChar('T');
  return name;
}

QByteArray assembled(const QVector<QPair<QByteArray, QByteArray>>& tables) {
  quint16 range = 1, selector = 0;
  while (range * 2 <= tables.size()) {
    range = static_cast<quint16>(range * 2);
    ++selector;
  }
  const bool postscript = tables.front().first.startsWith("CFF");
  QByteArray header, body;
  append(header, postscript ? quint32{0x4F54544F} : quint32{0x00010000});
  append(header, static_cast<quint16>(tables.size()));
  append(header, static_cast<quint16>(range * 16));
  append(header, selector);
  append(header, static_cast<quint16>(tables.size() * 16 - range * 16));
  const qsizetype start = header.size() + tables.size() * 16;
  for (const auto& [tag, data] : tables) {
    header.append(tag);
    append(header, quint32{0});  // Qt does not verify check sums
    append(header, static_cast<quint32>(start + body.size()));
    append(header, static_cast<quint32>(data.size()));
    body.append(data);
    while (body.size() % 4) body.append('\0');
  }
  return header + body;
}

bool load_tabular(const QFont& font, const QString& family, const QString& name) {
  const QRawFont raw = QRawFont::fromFont(font);
  if (!raw.isValid() || raw.familyName() != family) return false;
  QVector<QPair<QByteArray, QByteArray>> tables;
  bool enabled = false;
  for (const char* tag : kTables) {
    QByteArray data = raw.fontTable(tag);
    if (data.isEmpty()) continue;
    if (qstrcmp(tag, "GSUB") == 0) enabled = enable_tabular(data);
    if (qstrcmp(tag, "name") == 0) {
      data.replace(utf16(family), utf16(name));
      data.replace(family.toLatin1(), name.toLatin1());
    }
    tables.push_back({tag, data});
  }
  return enabled && QFontDatabase::addApplicationFontFromData(assembled(tables)) >= 0;
}

bool equal_digits(const QString& family) {
  QFont font(family);
  font.setPixelSize(100);
  const QFontMetricsF metrics(font);
  for (int digit = 1; digit < 10; ++digit) {
    if (metrics.horizontalAdvance(QString::number(digit)) != metrics.horizontalAdvance("0")) return false;
  }
  return true;
}

}  // namespace

QString tabularFamily(const QString& family) {
  if (family.isEmpty() || equal_digits(family)) return family;
  const QString name = other_name(family);
  for (const QFont::Weight weight : {QFont::Normal, QFont::Medium, QFont::DemiBold, QFont::Bold}) {
    QFont font(family);
    font.setWeight(weight);
    if (!load_tabular(font, family, name)) return family;
  }
  return QFontDatabase::hasFamily(name) && equal_digits(name) ? name : family;
}

}  // namespace shardscape::ui
