// Runs shardscape-cli while the system fails (shim.cpp), and compares folders before and after.
#pragma once

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QMap>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>

#include "support/longest_run.h"

namespace shardscape::test {

// How a run ended.
struct FaultRun {
  int exit_code = -1;
  int signal = 0;  // that ended the program; 0: none
  QString out, err;
  QMap<QString, int> calls;  // of every kind of the shim
};

struct Surroundings {
  QString fault{};                // SHARDSCAPE_FAULT
  QStringList env{};              // NAME=value; NAME alone: unset
  std::function<void()> child{};  // called in the child, before the program
  QString program = QStringLiteral(SHARDSCAPE_CLI);
};

// Whether the shim works in this build: sanitizers replace the same functions.
inline bool shim_works() { return !QStringLiteral(SHARDSCAPE_FAULT_SHIM).isEmpty(); }

#define SKIP_WITHOUT_SHIM() \
  if (!shardscape::test::shim_works()) QSKIP("sanitizers replace the functions that the shim replaces")

inline void prepare(QProcess& process, const QString& folder, const Surroundings& around) {
  process.setWorkingDirectory(folder);
  QProcessEnvironment env = QProcessEnvironment::systemEnvironment();
  if (shim_works()) env.insert("LD_PRELOAD", SHARDSCAPE_FAULT_SHIM);
  if (!around.fault.isEmpty()) env.insert("SHARDSCAPE_FAULT", around.fault);
  for (const QString& entry : around.env) {
    if (entry.contains('='))
      env.insert(entry.section('=', 0, 0), entry.section('=', 1));
    else
      env.remove(entry);
  }
  process.setProcessEnvironment(env);
  if (around.child) process.setChildProcessModifier(around.child);
}

inline FaultRun finish(QProcess& process) {
  FaultRun run;
  if (!process.waitForFinished(kLongestRun)) {
    process.kill();
    process.waitForFinished(kLongestRun);
    return run;
  }
  if (process.exitStatus() == QProcess::NormalExit)
    run.exit_code = process.exitCode();
  else
    run.signal = process.exitCode();
  run.out = QString::fromUtf8(process.readAllStandardOutput());
  run.err = QString::fromUtf8(process.readAllStandardError());
  return run;
}

// Words are separated by spaces.
inline FaultRun run_faulty(const QString& line, const QString& folder, Surroundings around = {}) {
  const QTemporaryDir counts;
  around.env << "SHARDSCAPE_FAULT_COUNTS=" + counts.filePath("counts");
  QProcess process;
  prepare(process, folder, around);
  process.start(around.program, line.split(' ', Qt::SkipEmptyParts));
  FaultRun run = finish(process);
  QFile file(counts.filePath("counts"));
  if (file.open(QIODevice::ReadOnly))
    for (const QByteArray& counted : file.readAll().trimmed().split('\n'))
      run.calls[QString::fromLatin1(counted.split(' ').front())] = counted.split(' ').back().toInt();
  return run;
}

// Whether a failed run gave a reason. Libraries that start before the program have messages of their own.
inline bool says_why(const FaultRun& run) {
  return run.err.contains("error: ") || run.err.contains("error while loading") ||
         run.err.contains("libgomp: Out of memory");
}

// Path below the folder: contents. Folders have a slash at the end.
using Contents = QMap<QString, QByteArray>;

inline Contents contents_of(const QString& folder) {
  Contents out;
  QDirIterator it(folder, QDir::AllEntries | QDir::Hidden | QDir::System | QDir::NoDotAndDotDot,
                  QDirIterator::Subdirectories);
  while (it.hasNext()) {
    it.next();
    const QString name = QDir(folder).relativeFilePath(it.filePath());
    QFile file(it.filePath());
    if (it.fileInfo().isDir()) {
      out[name + '/'] = {};
    } else {
      const bool bytes = it.fileInfo().isFile() && !it.fileInfo().isSymLink();  // no device, pipe or link
      out[name] = bytes && file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
  }
  return out;
}

// Without what lies under temporary names.
inline Contents final_names(const Contents& all) {
  Contents out;
  for (auto it = all.begin(); it != all.end(); ++it)
    if (!it.key().startsWith('.')) out[it.key()] = it.value();
  return out;
}

inline void write_contents(const Contents& all, const QString& folder) {
  for (auto it = all.begin(); it != all.end(); ++it) {
    const QString path = QDir(folder).filePath(it.key());
    QDir().mkpath(it.key().endsWith('/') ? path : QFileInfo(path).path());
    if (it.key().endsWith('/')) continue;
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(it.value()), it.value().size());
  }
}

// 1 ... calls, or up to `most` of them, the first and the last among them. SHARDSCAPE_ALL_FAULTS=1: all.
inline QList<int> calls_to_fail(int calls, int most) {
  QList<int> out;
  const int count = qEnvironmentVariableIsSet("SHARDSCAPE_ALL_FAULTS") ? calls : std::min(calls, most);
  for (int i = 0; i < count; ++i) out << 1 + (count > 1 ? i * (calls - 1) / (count - 1) : 0);
  return out;
}

// A command that replaces old files by new ones.
struct Writer {
  const char* name;
  QString old_line, new_line;
  QString program = QStringLiteral(SHARDSCAPE_CLI);
  Contents before{}, after{};  // the folder with the old files, and with the new ones
  QMap<QString, int> calls{};  // of new_line

  // Runs both commands.
  void record() {
    const QTemporaryDir folder;
    const FaultRun first = run_faulty(old_line, folder.path(), {.program = program});
    QVERIFY2(first.exit_code == 0, qPrintable(first.err));
    before = contents_of(folder.path());
    const FaultRun second = run_faulty(new_line, folder.path(), {.program = program});
    QVERIFY2(second.exit_code == 0, qPrintable(second.err));
    after = contents_of(folder.path());
    calls = second.calls;
    QVERIFY(before != after && before.keys() == after.keys());
    QVERIFY(before == final_names(before) && after == final_names(after));
  }

  // Fails one call. The program ends by itself; the old files stay, or the new ones are whole.
  void fail(const QString& fault) const {
    const QTemporaryDir folder;
    write_contents(before, folder.path());
    const FaultRun run = run_faulty(new_line, folder.path(), {.fault = fault, .program = program});
    const QByteArray what = QString("%1, %2: exit code %3, signal %4\n%5")
                                .arg(name, fault)
                                .arg(run.exit_code)
                                .arg(run.signal)
                                .arg(run.err)
                                .toUtf8();
    const bool killed = fault.endsWith("KILL");
    const bool late = killed || fault.startsWith("memory");  // may strike when the new files are in place
    QVERIFY2(killed ? run.signal == 9 || run.exit_code == 0 : run.signal == 0 && run.exit_code >= 0, what);
    const Contents left = contents_of(folder.path());
    if (!killed && run.exit_code != 0) QVERIFY2(says_why(run), what);
    if (run.exit_code == 0)
      QVERIFY2(final_names(left) == after, what);
    else
      QVERIFY2(final_names(left) == before || (late && final_names(left) == after), what);
    if (left == final_names(left)) return;
    // What is left over is removed by the next run. On a full disk the message names it: --resume goes on.
    QVERIFY2(killed || fault.startsWith("remove") || run.err.contains("What is written stays in"), what);
    const FaultRun next = run_faulty(new_line, folder.path(), {.program = program});
    QVERIFY2(next.exit_code == 0, qPrintable(next.err));
    QVERIFY2(contents_of(folder.path()) == after, what);
  }
};

inline QString with_errno(const QString& kind, int call, int error) {
  return QString("%1:%2:%3").arg(kind).arg(call).arg(error);
}

}  // namespace shardscape::test
