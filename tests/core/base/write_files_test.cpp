// Several files in one folder: all of them, or nothing new.
#include "base/write_files.h"

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

using namespace shardscape;
namespace fs = std::filesystem;

class WriteFilesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  void folders_are_made() {
    QVERIFY(!write_files(root() / "a" / "b", {{"one", "1"}, {"two", "2"}}));
    QCOMPARE(text(root() / "a/b/one"), std::string("1"));
    QCOMPARE(text(root() / "a/b/two"), std::string("2"));
  }

  void a_failure_removes_what_is_new() {
    fs::create_directories(root() / "a" / "taken");
    std::ofstream(root() / "a" / "old") << "before";
    const auto problem = write_files(root() / "a" / "b", {{"one", "1"}, {"../taken", "2"}});
    QVERIFY(problem && problem->where.find("taken") != std::string::npos);
    QVERIFY(!fs::exists(root() / "a" / "b"));
    QVERIFY(fs::exists(root() / "a" / "taken"));
    QVERIFY(write_files(root() / "a", {{"new", "1"}, {"old", "after"}, {"taken", "2"}}));
    QVERIFY(!fs::exists(root() / "a" / "new"));
    QCOMPARE(text(root() / "a" / "old"), std::string("before"));
  }

  void a_folder_that_cannot_be_made() {
    std::ofstream(root() / "file") << "no folder";
    const auto problem = write_files(root() / "file" / "b", {{"one", "1"}});
    QVERIFY(problem && problem->code == ProblemCode::FolderNotWritable);
  }

 private:
  fs::path root() const { return folder_->path().toStdString(); }
  static std::string text(const fs::path& path) {
    std::stringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }

  std::unique_ptr<QTemporaryDir> folder_;
};

QTEST_APPLESS_MAIN(WriteFilesTest)
#include "write_files_test.moc"
