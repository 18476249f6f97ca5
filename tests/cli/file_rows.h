// Data rows with a file and a command that reads it: what the command says, and its exit code.
#pragma once

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "cli/cli_run.h"

namespace shardscape::test {

inline constexpr int kAnswer = 0, kWrongContent = 1;

inline void add_file_columns() {
  QTest::addColumn<QString>("line");  // F: the file
  QTest::addColumn<QByteArray>("content");
  QTest::addColumn<int>("exit_code");
  QTest::addColumn<QString>("said");  // a part of what it prints
}

inline void add_file_row(const char* name, const char* line, const QByteArray& content, int exit_code,
                         const char* said) {
  QTest::newRow(name) << QString(line) << content << exit_code << QString(said);
}

// Of the present row.
inline void run_file_row() {
  QFETCH(QString, line);
  QFETCH(QByteArray, content);
  QFETCH(int, exit_code);
  QFETCH(QString, said);
  QTemporaryDir folder;
  QFile file(folder.filePath(line.split(' ').filter("F.").front()));
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(content);
  file.close();
  const CliRun run = run_line(line, folder.path());
  QVERIFY2((run.out + run.err).contains(said), qPrintable(run.out.left(2000) + run.err.left(2000)));
  QVERIFY2(run.exit_code == exit_code,
           qPrintable(QString::number(run.exit_code) + run.out.left(1000) + run.err.left(2000)));
  QVERIFY2(run.err.size() < 20000, qPrintable(QString::number(run.err.size())));
}

}  // namespace shardscape::test
