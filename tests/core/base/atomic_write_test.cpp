// Files that are replaced: permissions, links, files that are none, temporary names.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/atomic_write.h"
#include "base/fatal.h"
#include "base/partial.h"

using namespace shardscape;
namespace fs = std::filesystem;

class AtomicWriteTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void permissions_stay();
  void links_stay();
  void folders_and_read_only_files();
  void planted_links_are_not_followed();
  void leftovers_are_removed();
  void long_names();
  void new_names_replace_nothing();
  void bytes_and_files_are_told_apart();
  void last_words();
};

namespace {

std::string text_of(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

mode_t mode_of(const fs::path& path) {
  struct stat state {};
  ::stat(path.c_str(), &state);
  return state.st_mode & 07777;
}

}  // namespace

void AtomicWriteTest::permissions_stay() {
  const QTemporaryDir folder;
  const fs::path path = folder.filePath("a").toStdString();
  const mode_t mask = ::umask(027);
  QVERIFY(!atomic_write(path, "1"));
  QCOMPARE(mode_of(path), mode_t{0640});
  for (const mode_t mode : {0600, 0666, 0755}) {
    ::chmod(path.c_str(), mode);
    QVERIFY(!atomic_write(path, "2"));
    QCOMPARE(mode_of(path), mode);
  }
  ::umask(mask);
  QCOMPARE(text_of(path), std::string("2"));
  QVERIFY((names_in(folder.path().toStdString()) == std::vector<std::string>{"a"}));
}

void AtomicWriteTest::links_stay() {
  const QTemporaryDir folder;
  const fs::path root = folder.path().toStdString();
  fs::create_directory(root / "b");
  fs::create_symlink("b/new", root / "near");
  fs::create_symlink("near", root / "far");
  for (const char* text : {"first", "second"}) {
    QVERIFY(!atomic_write(root / "far", text));
    QCOMPARE(text_of(root / "b" / "new"), std::string(text));
  }
  QVERIFY(fs::is_symlink(root / "far") && fs::is_symlink(root / "near"));
  fs::create_symlink("loop", root / "loop");
  QVERIFY(fs::is_symlink(root / "loop"));
  const auto problem = atomic_write(root / "loop" / "x", "text");
  QVERIFY(problem && problem->code == ProblemCode::FileNotWritable);
}

void AtomicWriteTest::folders_and_read_only_files() {
  const QTemporaryDir folder;
  const fs::path root = folder.path().toStdString();
  QVERIFY(atomic_write(root, "x")->what.find("folder") != std::string::npos);
  std::ofstream(root / "kept") << "old";
  ::chmod((root / "kept").c_str(), 0444);
  const auto problem = atomic_write(root / "kept", "new");
  QVERIFY(problem && problem->what.find("read-only") != std::string::npos);
  QCOMPARE(problem->where, (root / "kept").string());
  QCOMPARE(text_of(root / "kept"), std::string("old"));
  QVERIFY(atomic_write(root / "none" / "x", "text")->what.find("No such file") != std::string::npos);
}

// The former temporary name was a path that others could guess.
void AtomicWriteTest::planted_links_are_not_followed() {
  const QTemporaryDir folder;
  const fs::path root = folder.path().toStdString();
  std::ofstream(root / "victim") << "precious";
  const fs::path path = root / "a";
  fs::create_symlink(root / "victim", path.string() + ".part-" + std::to_string(::getpid()));
  fs::create_symlink(root / "victim", root / ".a.partial-abc123");
  QVERIFY(!atomic_write(path, "text"));
  QCOMPARE(text_of(root / "victim"), std::string("precious"));
  // Names differ from one file to the next.
  PartialFile first, second;
  QCOMPARE(first.open(path, 0666), 0);
  QCOMPARE(second.open(path, 0666), 0);
  QCOMPARE(names_in(root).size(), size_t{6});
}

void AtomicWriteTest::leftovers_are_removed() {
  const QTemporaryDir folder;
  const fs::path root = folder.path().toStdString();
  const fs::path path = root / "a", killed = root / ".a.partial-abc123", running = root / ".a.partial-def456",
                 other = root / ".b.partial-abc123";
  for (const fs::path& file : {killed, running, other}) std::ofstream(file) << "half";
  const int lock = ::open(running.c_str(), O_RDONLY);
  QCOMPARE(::flock(lock, LOCK_EX), 0);
  QVERIFY(!atomic_write(path, "text"));
  QVERIFY(!fs::exists(killed) && fs::exists(running) && fs::exists(other));
  ::close(lock);
  const auto lines = remove_leftovers(path);
  QCOMPARE(lines.size(), size_t{1});
  QVERIFY2(lines[0].find(running.string()) != std::string::npos, lines[0].c_str());
  QVERIFY(!fs::exists(running) && fs::exists(other));
}

void AtomicWriteTest::long_names() {
  const QTemporaryDir folder;
  const fs::path root = folder.path().toStdString();
  const std::string start(230, 'n');
  for (size_t length = 236; length <= 255; ++length) {
    const fs::path path = root / (start + std::string(length - start.size(), 'e'));
    QVERIFY2(!atomic_write(path, "text"), std::to_string(length).c_str());
  }
  QCOMPARE(names_in(root).size(), size_t{20});
  // Two long names with the same first letters have temporary names of their own.
  PartialFile one;
  QCOMPARE(one.open(root / (start + "-one-and-more-letters"), 0666), 0);
  QVERIFY(leftovers(root / (start + "-two-and-more-letters")).empty());
}

void AtomicWriteTest::new_names_replace_nothing() {
  const QTemporaryDir folder;
  const fs::path path = folder.filePath("a").toStdString();
  PartialFile file;
  QCOMPARE(file.open(path, 0666), 0);
  QCOMPARE(write_all(file.descriptor(), "new"), 0);
  std::ofstream(path) << "of another program";
  QCOMPARE(file.commit(false), EEXIST);
  QCOMPARE(text_of(path), std::string("of another program"));
  QCOMPARE(file.commit(true), 0);
  QCOMPARE(text_of(path), std::string("new"));
}

void AtomicWriteTest::bytes_and_files_are_told_apart() {
  QVERIFY(!out_of_files(QDir::tempPath().toStdString()));
  QVERIFY(!out_of_files("/no/such/folder"));
}

void AtomicWriteTest::last_words() {
  QVERIFY(fatal_text(std::bad_alloc()).find("no more memory") != std::string::npos);
  const std::system_error thread(std::make_error_code(std::errc::resource_unavailable_try_again));
  QVERIFY(fatal_text(thread).find("thread") != std::string::npos);
  QVERIFY(fatal_text(std::runtime_error("pthread_create has failed")).find("thread") != std::string::npos);
  QCOMPARE(fatal_text(std::runtime_error("x")), std::string("unexpected failure: x"));
}

QTEST_APPLESS_MAIN(AtomicWriteTest)
#include "atomic_write_test.moc"
