#!/usr/bin/env python3
"""Prints the ratios of a run of scripts/gpu-run: gpu-summary.py DIR."""
import json
import math
import os
import sys


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f if line.strip()]


def name(path):
    return os.path.basename(path).removesuffix(".msr").removeprefix("gen-")


def main(folder):
    results = lines(os.path.join(folder, "results.jsonl"))
    copy = next((r["gb_per_s"] for r in results if r["what"] == "copy"), None)
    print(f"copy bandwidth {copy:.0f} GB/s" if copy else "copy bandwidth: not measured")
    peers = {}
    for r in results:
        if r["what"] == "peer":
            peers.setdefault((r["matrix"], r["value"]), {})[r["library"]] = r.get("seconds")
    print(f"{'matrix':44} {'value':5} {'nnz':>11} {'kept by auto':13} {'own GB/s':>9} {'of copy':>8} {'cuSPARSE/own':>13} {'cupy/own':>9} {'torch/own':>9} {'worst':>6}")
    ratios = []
    for r in results:
        if r["what"] == "left out":
            print(f"{name(r['matrix']):44} left out: no time")
        if r["what"] != "product":
            continue
        forms = {f["form"]: f for f in r["forms"]}
        own = min((f for n in ("csr", "csr-merge") if (f := forms[n]).get("seconds")), key=lambda f: f["seconds"], default=None)
        if own is None:
            print(f"{name(r['matrix']):44} {r['value']:5} failed: {forms['csr'].get('error')}")
            continue
        rivals = {"cusparse": forms["cusparse"].get("seconds"), **peers.get((r["matrix"], r["value"]), {})}
        ratio = lambda n: rivals[n] / own["seconds"] if rivals.get(n) else None
        show = lambda v: f"{v:.2f}" if v else "-"
        best = min((v for v in rivals.values() if v), default=None)
        if best:
            ratios.append(best / own["seconds"])
        kept = forms["auto"].get("why", "failed").split(":")[0]
        part = f"{own['gb_per_s'] / copy:.3f}" if copy else "-"
        print(f"{name(r['matrix']):44} {r['value']:5} {r['nnz']:11} {kept:13} {own['gb_per_s']:9.0f} {part:>8} {show(ratio('cusparse')):>13} "
              f"{show(ratio('cupy')):>9} {show(ratio('torch')):>9} {max(f.get('worst_error', 0) for f in r['forms']):6.1f}")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"best rival / own: geometric mean {mean:.2f}, least {min(ratios):.2f}, of {len(ratios)}")
    path = os.path.join(folder, "phases.jsonl")
    if os.path.exists(path) and os.path.getsize(path):
        print(f"\n{'matrix':44} {'flags':36} {'partition':>10} {'distribute':>10} {'kernel':>10} {'merge':>10}  partition and merge of the total without reading")
        for r in lines(path):
            p = r["phases"]
            total = p["total_s"] - p["read_s"]
            print(f"{name(r['matrix']['name']):44} {r['flags']:36} {p['partition_s']:10.6f} {p['distribute_s']:10.6f} {p['kernel_s']:10.6f} {p['merge_s']:10.6f}"
                  f"  {p['partition_s'] / total:.1%} {p['merge_s'] / total:.1%}")


if __name__ == "__main__":
    main(sys.argv[1])
