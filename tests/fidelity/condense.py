#!/usr/bin/env python3
"""Condenses recordings of real training code to what the audit compares: condense.py OUT_FOLDER RECORDING.json ...

Collectives become a list of kinds and the order of issue; parameters and kept storages keep those outside layers, and of
the last layer and the first expert. Nothing that is compared is changed."""
import json
import pathlib
import re
import sys

LAYER = re.compile(r"(?:^|\.)(?:layers|h)\.(\d+)\.")
EXPERT = re.compile(r"experts\.(\d+)\.")


def layer_of(name):
    match = LAYER.search(name + ".")
    return int(match.group(1)) if match else None


def tensors(all_tensors, ordered):
    layers = [layer_of(name) for name in all_tensors]
    last = max([layer for layer in layers if layer is not None], default=None)
    def wanted(name):
        expert = EXPERT.search(name)
        return ordered or (layer_of(name) in (None, last) and (not expert or expert.group(1) == "0"))
    return {name: tensor["shape"] for name, tensor in all_tensors.items() if wanted(name)}


def collectives(rows):
    kinds, order = [], []
    for row in rows:
        kind = {key: row[key] for key in ("phase", "type", "group", "group_size", "dtype", "elements", "bytes") if key in row}
        if kind not in kinds:
            kinds.append(kind)
        order.append(kinds.index(kind))
    return {"kinds": kinds, "order": order}


def condense(recording):
    out = {key: recording[key] for key in ("case", "source", "config", "parallel", "schedule") if key in recording}
    # Recordings of the sync plan are given by their ordered list of parameters.
    ordered = "per_layer" not in recording
    if "params_per_rank" in recording:
        params = recording["params_per_rank"]
        out["params_per_rank"] = {key: value for key, value in params.items() if key != "tensors"}
        out["params_per_rank"]["tensors"] = tensors(params.get("tensors", {}), ordered)
    if "full_model_params" in recording:
        out["full_model_params"] = {"total": recording["full_model_params"]["total"]}
    if not ordered:
        out["totals"] = {key: value for key, value in recording["totals"].items() if key.endswith("_matmul_flops")}
        layer = recording["per_layer"]
        out["per_layer"] = {key: layer[key] for key in
                            ("params", "forward_flops", "backward_flops", "recompute_flops", "saved_activation_bytes") if key in layer}
        rows = recording["saved_activation_bytes"]["tensors"]
        out["saved_activation_bytes"] = {"tensors": [
            {key: row[key] for key in ("scope", "shape", "dtype", "storage_bytes")} for row in rows if layer_of(row["scope"]) is None]}
    out["collectives"] = collectives(recording["collectives"])
    return out


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for path in map(pathlib.Path, sys.argv[2:]):
        lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in condense(json.loads(path.read_text())).items())
        (folder / path.name).write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
