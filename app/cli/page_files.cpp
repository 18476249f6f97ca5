#include "app/cli/page_files.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <filesystem>
#include <iostream>

#include "app/cli/exit_code.h"
#include "app/cli/messages.h"
#include "app/cli/text.h"
#include "base/atomic_write.h"
#include "base/write_files.h"

namespace shardscape {
namespace {

constexpr const char* kOtherWay = "--html FILE, which every browser prints as PDF";

// The window program: beside this one, else in PATH. Empty: it is not installed.
QString window_program() {
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  const QString folder = QString::fromStdString(self.parent_path().string());
  const QString beside = QStandardPaths::findExecutable(QStringLiteral("shardscape"), {folder});
  return beside.isEmpty() ? QStandardPaths::findExecutable(QStringLiteral("shardscape")) : beside;
}

// Qt's text layout lays the page out. It needs fonts, which the command line does without: the window program
// writes the file.
std::optional<Problem> write_pdf(const PageReport& page, const std::string& path) {
  const QString program = window_program();
  if (program.isEmpty())
    return Problem{ProblemCode::FileNotWritable, "--pdf",
                   "the window program shardscape, which writes PDF files, is not installed", kOtherWay};
  const QTemporaryDir folder;
  if (!folder.isValid())
    return Problem{ProblemCode::FolderNotWritable, QDir::tempPath().toStdString(),
                   "there is no folder for temporary files: " + folder.errorString().toStdString(),
                   "TMPDIR names a writable folder"};
  const QString html = folder.filePath(QStringLiteral("page.html"));
  if (auto problem = atomic_write(html.toStdString(), page_html(page))) return problem;
  QProcess process;
  process.start(program,
                {QStringLiteral("-platform"), QStringLiteral("offscreen"), QStringLiteral("--print"), html,
                 QStringLiteral("--pdf"), QFileInfo(QString::fromStdString(path)).absoluteFilePath()});
  if (!process.waitForStarted(-1))
    return Problem{ProblemCode::FileNotWritable, path,
                   "the PDF was not written: " + program.toStdString() +
                       " does not start: " + process.errorString().toStdString(),
                   kOtherWay};
  process.waitForFinished(-1);
  if (process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0) return std::nullopt;
  const std::string said = process.readAllStandardError().trimmed().toStdString();
  return Problem{ProblemCode::FileNotWritable, path, "the PDF was not written: " + said,
                 "a file in a writable folder"};
}

// "Peak memory per GPU, by stage" is the file peak-memory-per-gpu-by-stage.csv.
std::string table_name(const std::string& title) {
  std::string out;
  for (const char c : title) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter))
      out += static_cast<char>(std::tolower(letter));
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out + ".csv";
}

std::optional<Problem> write_tables(const PageReport& page, const std::string& folder) {
  std::vector<NamedText> files;
  for (const PageSection& section : page.sections) {
    std::string csv;
    for (const PageRow& row : section.rows) {
      for (size_t i = 0; i < row.size(); ++i) csv += (i > 0 ? "," : "") + csv_cell(row[i]);
      csv += "\n";
    }
    if (!csv.empty()) files.push_back({table_name(section.title), std::move(csv)});
  }
  return write_files(folder, files);
}

}  // namespace

std::vector<Flag> page_flags() {
  return {{"--html", 0, FlagKind::Value, "FILE",
           "Write one page to FILE: verdict, step, memory, settings, formulas, assumptions and sources, with "
           "pictures. The page needs no other file, and Shardscape opens it again as a design.",
           "", Output::File},
          {"--tables", 0, FlagKind::Value, "DIR",
           "Write every table of the page to the folder DIR, each as a file of CSV.", "", Output::Folder},
          {"--markdown", 0, FlagKind::Value, "FILE", "Write the same page as Markdown, without pictures.", "",
           Output::File},
          {"--pdf", 0, FlagKind::Value, "FILE",
           "Write the same page as PDF. Needs the window program, but no display.", "", Output::File}};
}

bool wants_page(const Arguments& arguments) {
  return arguments.has("--html") || arguments.has("--markdown") || arguments.has("--pdf") ||
         arguments.has("--tables");
}

int write_pages(const Arguments& arguments, const PageReport& page) {
  const auto written = [](const std::string* path, std::optional<Problem> problem) {
    if (problem)
      print_problem(*problem);
    else if (path)
      std::cout << *path << "\n";
    return !problem;
  };
  const std::string *html = arguments.value("--html"), *markdown = arguments.value("--markdown"),
                    *pdf = arguments.value("--pdf"), *tables = arguments.value("--tables");
  const bool done = written(html, html ? atomic_write(*html, page_html(page)) : std::nullopt) &&
                    written(markdown,
                            markdown ? atomic_write(*markdown, page_markdown(page)) : std::nullopt) &&
                    written(tables, tables ? write_tables(page, *tables) : std::nullopt) &&
                    written(pdf, pdf ? write_pdf(page, *pdf) : std::nullopt);
  return done ? kDone : kFileError;
}

}  // namespace shardscape
