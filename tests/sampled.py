#!/usr/bin/env python3
"""Runs every N-th row of each data-driven function of a Qt Test program: sampled.py N PROGRAM.

The first row of a function is always run, and so is every function without rows.
"""
import subprocess
import sys


def main() -> int:
    share, program = int(sys.argv[1]), sys.argv[2]
    listed = subprocess.run([program, "-datatags"], capture_output=True, text=True, check=True).stdout
    seen: dict[str, int] = {}
    rows = []
    for line in listed.splitlines():
        _, function, *tag = line.split(" ", 2)
        if seen.setdefault(function, 0) % share == 0:
            rows.append(f"{function}:{tag[0]}" if tag else function)
        seen[function] += 1
    print(f"{len(rows)} of {sum(seen.values())} rows", flush=True)
    return subprocess.run([program, *rows], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
