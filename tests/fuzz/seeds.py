#!/usr/bin/env python3
"""Writes the first inputs of each fuzz program, from the repository: tests/fuzz/seeds.py FOLDER.

FOLDER/READER gets one file per seed. Sources: data files, raw strings of tests, found inputs and tests/fuzz/seeds.
"""
import hashlib
import itertools
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST = {name: int(size) for name, size in
           re.findall(r"^READER\((\w+), (\d+)", (ROOT / "tests/fuzz/readers.def").read_text(), re.M)}


def files(*patterns):
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file():
                yield path.read_bytes()


def raw_strings(*patterns):
    for text in files(*patterns):
        for match in re.finditer(r'R"(\w*)\((.*?)\)\1"', text.decode(), re.S):
            yield match[2].encode()


def quoted(*patterns):
    for text in files(*patterns):
        for match in re.finditer(r'"((?:[^"\\\n]|\\.)+)"', text.decode()):
            yield match[1].encode()


def first_entries(texts, key, count=3):
    """Documents whose list `key` has only its first entries: they mutate faster than long ones."""
    for text in texts:
        document = json.loads(text)
        if isinstance(document.get(key), list):
            document[key] = document[key][:count]
        yield json.dumps(document, indent=1).encode()


def first_lines(texts, count=40):
    for text in texts:
        yield b"\n".join(text.split(b"\n")[:count]) + b"\n"


def json_texts(*patterns):
    return [text for text in raw_strings(*patterns) if text.lstrip()[:1] in (b"{", b"[")]


def spaces():
    return itertools.chain(files("tests/data/explore/*.json"), json_texts("tests/core/explore/*.cpp", "tests/cli/*.cpp"))


def with_letters(texts, letters):
    for number, text in enumerate(texts):
        yield letters[number % len(letters)] + text


def designs():
    return itertools.chain(files("resources/examples/*.json"),
                           json_texts("tests/core/design/**/*.cpp", "tests/core/explore/*.cpp"))


ANY = [bytes([value]) for value in range(64)]
SEEDS = {
    "hf_config": lambda: files("tests/data/hf/*.json", "tests/data/hf26/*.json"),
    "design": designs,
    "study": lambda: itertools.chain(designs(), spaces()),
    "space": spaces,
    "result": spaces,
    "recovery": lambda: json_texts("tests/core/explore/*.cpp"),
    "report_document": lambda: raw_strings("tests/core/design/*.cpp"),
    "recording": lambda: files("tests/fidelity/recordings/*.json", "tests/data/sync/*.json"),
    "measured_set": lambda: itertools.chain(
        first_entries(files("tests/data/measured/*.json"), "rows"),
        json_texts("tests/core/validation/*.cpp", "tests/cli/*.cpp")),
    "measured_ops": lambda: first_lines(files("tests/data/measured_ops/*.csv")),
    "calibration": lambda: itertools.chain(first_entries(files("resources/calibration/*.json"), "matmul", 1),
                                           json_texts("tests/core/performance/*.cpp")),
    "accelerators": lambda: first_entries(files("resources/catalogue/accelerators.json"), "accelerators"),
    "networks": lambda: first_entries(files("resources/catalogue/clusters.json"), "networks"),
    "architecture": lambda: files("models/architectures/*.json"),
    "block": lambda: files("models/blocks/*.json"),
    "tower": lambda: files("models/towers/*.json"),
    "kernel_profile": lambda: files("models/profiles/*.json"),
    "preset": lambda: files("models/presets/*.json"),
    "expression": lambda: itertools.chain(quoted("tests/core/symbolic/expr*.cpp"),
                                          [b"2*b*S*D*F/(cp*tp)", b"(Er+Rkv)^3/2 - 7*tp^-2"]),
    "notation": lambda: with_letters(
        quoted("tests/core/explore/constraint*.cpp", "tests/core/explore/values*.cpp",
               "tests/core/model/*pattern*.cpp", "tests/core/model/*variant*.cpp",
               "tests/core/model/weight_format*.cpp", "tests/core/model/op_line*.cpp"), ANY[:8]),
    "launch": lambda: with_letters(raw_strings("tests/core/launch/**/*.cpp", "tests/cli/*launch*.cpp"), ANY),
    "trace": lambda: json_texts("tests/core/chakra/*.cpp", "tests/core/trace/*.cpp"),
    "bundle": lambda: [],
    "torch_profile": lambda: json_texts("tests/core/profile/*.cpp", "tests/cli/*.cpp"),
    "requests": lambda: itertools.chain(
        first_lines(files("tests/data/requests/*.csv")),
        raw_strings("tests/core/serving/**/*.cpp"), json_texts("tests/core/serving/**/*.cpp")),
}


def main():
    target = pathlib.Path(sys.argv[1])
    assert SEEDS.keys() == LONGEST.keys(), "readers.def and seeds.py name the same readers"
    for reader, seeds in SEEDS.items():
        folder = target / reader
        folder.mkdir(parents=True, exist_ok=True)
        own = files(f"tests/fuzz/seeds/{reader}/*", f"tests/data/fuzz/{reader}/**/*")
        for text in itertools.chain(seeds(), own):
            if len(text) <= LONGEST[reader]:
                (folder / hashlib.sha1(text).hexdigest()).write_bytes(text)


if __name__ == "__main__":
    main()
