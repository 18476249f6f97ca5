#include "ui/toolkit/tabular_font.h"

#include <QFontDatabase>
#include <QFontMetricsF>
#include <QHash>
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

quint32 read32(const QByteArray& table, qsizetype at) {
  return quint32{read16(table, at)} << 16 | read16(table, at + 2);
}

using Substitutes = QHash<quint32, quint32>;  // of a glyph

// A "Coverage" table: its glyphs, in order.
QVector<quint16> covered(const QByteArray& table, qsizetype at) {
  QVector<quint16> glyphs;
  const bool ranges = read16(table, at) == 2;
  for (int i = 0; i < read16(table, at + 2); ++i) {
    const qsizetype record = at + 4 + (ranges ? 6 : 2) * i;
    const quint16 last = read16(table, record + (ranges ? 2 : 0));
    for (quint32 glyph = read16(table, record); glyph <= last; ++glyph) glyphs << static_cast<quint16>(glyph);
  }
  return glyphs;
}

// A lookup of single substitutions, type 1, also by extension, type 7.
void add_substitutes(const QByteArray& gsub, qsizetype lookup, Substitutes& out) {
  for (int i = 0; i < read16(gsub, lookup + 4); ++i) {
    qsizetype part = lookup + read16(gsub, lookup + 6 + 2 * i);
    int type = read16(gsub, lookup);
    if (type == 7) {
      type = read16(gsub, part + 2);
      part += read32(gsub, part + 4);
    }
    if (type != 1) continue;
    const QVector<quint16> glyphs = covered(gsub, part + read16(gsub, part + 2));
    const bool listed = read16(gsub, part) == 2;
    for (int at = 0; at < glyphs.size(); ++at)
      out.insert(glyphs[at], listed ? read16(gsub, part + 6 + 2 * at)
                                    : static_cast<quint16>(glyphs[at] + read16(gsub, part + 4)));
  }
}

// The glyphs of the feature "tnum". GSUB: version, script list, feature list at 6, lookup list at 8. Feature
// list: count, then (tag, offset) each. Feature: parameters, count, lookups.
Substitutes tabular_glyphs(const QByteArray& gsub) {
  Substitutes out;
  const qsizetype features = read16(gsub, 6), lookups = read16(gsub, 8);
  for (int i = 0; i < read16(gsub, features); ++i) {
    const qsizetype record = features + 2 + 6 * i;
    if (gsub.mid(record, 4) != "tnum") continue;
    const qsizetype feature = features + read16(gsub, record + 4);
    for (int j = 0; j < read16(gsub, feature + 2); ++j)
      add_substitutes(gsub, lookups + read16(gsub, lookups + 2 + 2 * read16(gsub, feature + 4 + 2 * j)), out);
    return out;  // further records are of other languages
  }
  return out;
}

// Shapers apply the feature "calt" unasked. Its glyphs, such as higher parentheses beside digits, belong to
// no character; a PDF would lose them as text.
void disable_alternates(QByteArray& gsub) {
  const qsizetype features = read16(gsub, 6);
  for (int i = 0; i < read16(gsub, features); ++i)
    if (const qsizetype record = features + 2 + 6 * i; gsub.mid(record, 4) == "calt")
      gsub.replace(record, 4, "x000");
}

// A "cmap" table, format 12, of the font's characters up to U+FFFF, with the substitutes as their glyphs.
QByteArray character_map(const QRawFont& font, const Substitutes& substitutes) {
  QString characters;
  for (char16_t c = 0x20; c < 0xFFFE; ++c)
    if (!QChar::isSurrogate(c)) characters += QChar(c);
  const QVector<quint32> glyphs = font.glyphIndexesForString(characters);
  QByteArray groups;
  quint32 count = 0;
  for (qsizetype i = 0; i < glyphs.size(); ++i) {
    if (glyphs[i] == 0) continue;
    const quint32 code = characters[i].unicode();
    for (const quint32 value : {code, code, substitutes.value(glyphs[i], glyphs[i])}) append(groups, value);
    ++count;
  }
  QByteArray out;
  for (const int value : {0, 1, 0, 4}) append(out, static_cast<quint16>(value));  // Unicode
  append(out, quint32{12});                                                       // offset of what follows
  for (const int value : {12, 0}) append(out, static_cast<quint16>(value));
  for (const quint32 value : {static_cast<quint32>(16 + groups.size()), quint32{0}, count})
    append(out, value);
  return out + groups;
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
  const Substitutes substitutes = tabular_glyphs(raw.fontTable("GSUB"));
  if (substitutes.isEmpty()) return false;
  for (const char* tag : kTables) {
    QByteArray data = raw.fontTable(tag);
    if (data.isEmpty()) continue;
    if (qstrcmp(tag, "GSUB") == 0) disable_alternates(data);
    if (qstrcmp(tag, "cmap") == 0) data = character_map(raw, substitutes);
    if (qstrcmp(tag, "name") == 0) {
      data.replace(utf16(family), utf16(name));
      data.replace(family.toLatin1(), name.toLatin1());
    }
    tables.push_back({tag, data});
  }
  return QFontDatabase::addApplicationFontFromData(assembled(tables)) >= 0;
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
