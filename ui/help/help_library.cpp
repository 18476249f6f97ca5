#include "ui/help/help_library.h"

#include <QDir>
#include <algorithm>

#include "base/data_dir.h"
#include "base/documentation.h"

namespace shardscape::ui {
namespace {

bool hasAll(const QString& text, const QStringList& words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

}  // namespace

HelpLibrary::HelpLibrary() {
  for (const DocumentationPage& page : documentation_pages()) {
    Page& mine = pages_.emplace_back();
    mine.name = QString::fromStdString(page.name);
    mine.title = QString::fromStdString(page.title).remove('`');
    mine.path = QDir::cleanPath(QString::fromStdString(std::filesystem::absolute(page.path).string()));
  }
}

HelpLibrary::Page& HelpLibrary::loaded(int page) {
  Page& mine = pages_[static_cast<size_t>(page)];
  if (mine.document) return mine;
  const auto text = read_text(mine.path.toStdString());
  const auto* problem = std::get_if<Problem>(&text);
  mine.document = markdownDocument(
      QString::fromStdString(problem ? to_string(*problem) : std::get<std::string>(text)));
  mine.sections = sectionsOf(*mine.document);
  mine.lines = linesOf(*mine.document);
  return mine;
}

QTextDocument* HelpLibrary::document(int page) { return loaded(page).document.get(); }

const QVector<HelpSection>& HelpLibrary::sections(int page) { return loaded(page).sections; }

const QVector<HelpLine>& HelpLibrary::lines(int page) { return loaded(page).lines; }

QUrl HelpLibrary::absolute(const QUrl& link, int from) const {
  const QString base = from >= 0
                           ? at(from).path
                           : QDir(QString::fromStdString(data_dir().string())).absoluteFilePath("docs/");
  return QUrl::fromLocalFile(base).resolved(link);
}

std::optional<HelpPlace> HelpLibrary::resolve(const QUrl& link, int from) {
  const QUrl target = absolute(link, from);
  if (!target.isLocalFile()) return std::nullopt;
  const QString path = QDir::cleanPath(target.toLocalFile());
  const auto page = std::find_if(pages_.begin(), pages_.end(),
                                 [&](const Page& candidate) { return candidate.path == path; });
  if (page == pages_.end()) return std::nullopt;
  const int index = static_cast<int>(page - pages_.begin());
  if (!target.hasFragment()) return HelpPlace{index, 0};
  for (const HelpSection& section : sections(index)) {
    if (section.anchor == target.fragment()) return HelpPlace{index, section.position};
  }
  if (!target.fragment().startsWith(kRowOf)) return std::nullopt;
  const QString first_cell = target.fragment().mid(kRowOf.size()) + kCellGap;
  for (const HelpLine& line : lines(index)) {
    if (line.text.startsWith(first_cell)) return HelpPlace{index, line.position};
  }
  return std::nullopt;
}

QVector<HelpMatch> HelpLibrary::search(const QStringList& words) {
  QVector<HelpMatch> named, others;
  if (words.isEmpty()) return named;
  for (int page = 0; page < size(); ++page) {
    const QVector<HelpSection>& headings = sections(page);
    const bool in_heading = std::any_of(headings.begin(), headings.end(), [&](const HelpSection& section) {
      return hasAll(section.title, words);
    });
    for (const HelpLine& line : lines(page)) {
      if (hasAll(line.text, words))
        (in_heading ? named : others).push_back({{page, line.position}, line.text});
    }
  }
  return named + others;
}

void HelpLibrary::dropDocuments() {
  for (Page& page : pages_) page.document.reset();
}

}  // namespace shardscape::ui
