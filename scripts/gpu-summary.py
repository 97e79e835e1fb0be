#!/usr/bin/env python3
"""Prints the ratios of a run of scripts/gpu-run: gpu-summary.py DIR."""
import csv
import json
import math
import os
import sys


def lines(path):
    """Returns the objects in the lines of a file, without incomplete lines of killed programs."""
    out = []
    with open(path) as f:
        for line in f:
            try:
                out += [json.loads(line)] if line.strip() else []
            except ValueError:
                print(f"{os.path.basename(path)}: not JSON: {line.strip()[:60]}")
    return out


def merged(results):
    """Joins the lines of a measurement, one for each form; a successful line wins."""
    out, known = [], {}
    for r in results:
        if "forms" not in r:
            out.append(r)
            continue
        # Calls of the stage collection have different folders.
        key = (r["what"], r.get("variant"), r.get("set"), name(r["matrix"]) if "set" in r else r["matrix"], r["value"], r.get("side"))
        if key not in known:
            known[key] = {**r, "forms": []}
            out.append(known[key])
        for f in r["forms"]:
            old = next((o for o in known[key]["forms"] if o["form"] == f["form"]), None)
            if old is None:
                known[key]["forms"].append(dict(f))
            elif "seconds" in f or "seconds" not in old:
                old.clear()
                old.update(f)
    return out


def name(path):
    return os.path.basename(path).removesuffix(".msr").removeprefix("gen-")


REGULAR = ("stencil", "banded")
EVEN = 3  # of the mean length of the rows, which the longest row of a regular matrix of the collection has at most
OWN = ("csr", "csr-merge", "slices", "tiles")
USUAL = (*OWN, "cusparse", "auto")


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def verdict(what, value, aim, reached):
    print(f"{what}: {value}; aim {aim}: {'reached' if reached else 'NOT reached'}")


def products(results, copy):
    """Prints one line for each matrix, then the main figures."""
    peers = {}
    for r in results:
        if r["what"] == "peer":
            peers.setdefault((r["matrix"], r["value"]), {})[r["library"]] = r.get("seconds")
            if "error" in r:
                print(f"{name(r['matrix']):44} {r['value']:5} {r['library']}: {r['error'][:90]}")
    print(f"{'matrix':44} {'value':5} {'nnz':>11} {'kept by auto':13} {'fastest own':12} {'GB/s':>6} {'of copy':>8} {'cusparse':>9} {'cupy':>6} {'torch':>6} {'best/own':>9} {'best/auto':>9} {'worst':>6}")
    own_ratios, auto_ratios, regular, worst = [], [], [], None
    for r in results:
        if r["what"] == "left out":
            print(f"{name(r['matrix']):44} left out: no time")
        if r["what"] == "failed":
            print(f"{name(r['matrix']):44} failed: see messages.log")
        if r["what"] == "peers failed":
            print(f"{name(r['matrix']):44} CuPy and torch: not measured, scripts/gpu-peers.py failed")
        if r["what"] != "product":
            continue
        forms = {f["form"]: f for f in r["forms"] if f["form"] in USUAL}
        if not forms:
            continue
        own = min((f for n in OWN if (f := forms.get(n, {})).get("seconds")), key=lambda f: f["seconds"], default=None)
        if own is None:
            print(f"{name(r['matrix']):44} {r['value']:5} failed: {forms.get('csr', {}).get('error')}")
            continue
        rivals = {"cusparse": forms.get("cusparse", {}).get("seconds"), **peers.get((r["matrix"], r["value"]), {})}
        best = min((v for v in rivals.values() if v), default=None)
        worst = max([worst or 0] + [f.get("worst_error", 0) for f in forms.values()])
        auto = forms.get("auto", {}).get("seconds")
        over = lambda a, b: f"{a / b:.2f}" if a and b else "-"
        if best:
            own_ratios.append(best / own["seconds"])
            if auto:
                auto_ratios.append(best / auto)
        part = own["gb_per_s"] / copy if copy else None
        if part and name(r["matrix"]).startswith(REGULAR):
            regular.append(part)
        print(f"{name(r['matrix']):44} {r['value']:5} {r['nnz']:11} {forms.get('auto', {}).get('kept', 'failed'):13} {own['form']:12} {own['gb_per_s']:6.0f} "
              f"{f'{part:.3f}' if part else '-':>8} {over(rivals.get('cusparse'), own['seconds']):>9} {over(rivals.get('cupy'), own['seconds']):>6} "
              f"{over(rivals.get('torch'), own['seconds']):>6} {over(best, own['seconds']):>9} {over(best, auto):>9} {max(f.get('worst_error', 0) for f in forms.values()):6.1f}")
    if worst is not None:
        verdict("largest difference from the host's product, in units of eps*|A||x|", f"{worst:.3g}", "below 100", worst < 100)
    if regular:
        verdict("regular matrices, least fraction of the copy bandwidth", f"{min(regular):.3f}", 0.85, min(regular) >= 0.85)
    for what, ratios in (("fastest own form", own_ratios), ("the plan's choice", auto_ratios)):
        if ratios:
            verdict(f"best rival over {what}, least of {len(ratios)}", f"{min(ratios):.2f}", 1.0, min(ratios) >= 1)
            verdict(f"best rival over {what}, geometric mean", f"{mean(ratios):.2f}", 1.2, mean(ratios) >= 1.2)


def collection(results):
    """Prints the ratios of the stage collection in one table, and then those of each matrix."""
    peers = {}
    for r in results:
        if r["what"] == "peer" and r.get("seconds"):
            peers.setdefault((name(r["matrix"]), r["value"]), {})[r["library"]] = r["seconds"]
    measured = [r for r in results if r["what"] == "product"]
    gpus = sorted({r["name"] for r in measured})
    found, each, bare = [], [], 0
    for r in sorted(measured, key=lambda r: (r["value"] != "fp64", r["nnz"], r["matrix"])):
        forms = {f["form"]: f for f in r["forms"]}
        auto = forms.get("auto", {})
        rivals = {"cusparse": forms.get("cusparse", {}).get("seconds"), **peers.get((name(r["matrix"]), r["value"]), {})}
        rivals = {k: v for k, v in rivals.items() if v}
        line = f"{name(r['matrix']):44} {r['value']:5} {r['rows']:9} {r['nnz']:10} {r['longest']:9} {auto.get('kept', '-'):13} "
        if not auto.get("seconds") or not rivals:
            each.append(line + f"no ratio: {auto.get('error') or 'auto or all others were not measured'}")
            continue
        best = min(rivals, key=rivals.get)
        ratio = rivals[best] / auto["seconds"]
        bare += len(rivals) < 3
        found.append((ratio, r))
        each.append(line + f"{1e6 * auto['seconds']:9.1f} {1e6 * rivals[best]:9.1f} {best:9} {ratio:6.2f} {max(f.get('worst_error', 0) for f in r['forms']):6.1f}")
    print(f"\ncollection on {', '.join(gpus)}: times of the fastest of cuSPARSE (all algorithms), CuPy and torch over those of the plan's choice (auto)")
    if len(gpus) > 1:
        print("These are different GPUs: their results do not belong together.")
    print(f"{'matrices':34} {'value':5} {'number':>6} {'mean':>6} {'least':>6} {'< 0.97':>6}  matrix of the least")
    even = lambda r: r["longest"] * r["rows"] <= EVEN * r["nnz"]
    for kind, of in (
        ("all", lambda r: True),
        (f"regular: rows up to {EVEN} x the mean", even),
        ("irregular: the others", lambda r: not even(r)),
        ("of the packs", lambda r: not made(r["matrix"])),
        ("large, generated", lambda r: made(r["matrix"])),
    ):
        for value in ("fp64", "fp32"):
            of_kind = [(ratio, r) for ratio, r in found if r["value"] == value and of(r)]
            if of_kind:
                least, worst = min(of_kind, key=lambda f: f[0])
                print(f"{kind:34} {value:5} {len(of_kind):6} {mean([f[0] for f in of_kind]):6.2f} {least:6.2f} {sum(f[0] < 0.97 for f in of_kind):6}  {name(worst['matrix'])}")
    errors = [f.get("worst_error", 0) for r in measured for f in r["forms"]]
    verdict("largest difference from the host's product, in units of eps*|A||x|", f"{max(errors, default=0):.3g}", "below 100", max(errors, default=0) < 100)
    if bare:
        print(f"{bare} of {len(found)} ratios are without a time of cuSPARSE, CuPy or torch.")
    for library in ("cupy", "torch"):
        refused = [r for r in results if r.get("library") == library and "error" in r]
        if refused:
            print(f"{library} failed {len(refused)} times, first: {name(refused[0]['matrix'])}: {refused[0]['error'][:90]}")
    whole = {name(r["matrix"]) for ratio, r in found if r["value"] == "fp32"}
    for what, done in (("failed", whole), ("peers failed", ())):
        failed = sorted({name(r["matrix"]) for r in results if r["what"] == what} - set(done))
        if failed:
            print(f"{what}: {' '.join(failed)}")
    print(f"\n{'matrices of the collection':44} {'value':5} {'rows':>9} {'entries':>10} {'longest':>9} {'kept':13} {'ours, us':>9} {'best, us':>9} {'best':9} {'ratio':>6} {'worst':>6}")
    print("\n".join(each))


def made(matrix):
    """Reports whether the stage collection generated the matrix."""
    return os.path.basename(matrix).startswith(("gen-", "made-"))


def others(results, copy):
    """Prints the speed of forms that plans never choose, such as those of the PELLR paper."""
    print(f"\n{'other forms':44} {'value':5} {'form':12} {'us':>9} {'GB/s':>6} {'of copy':>8} {'worst':>6}")
    for r, f in ((r, f) for r in results for f in r["forms"] if f["form"] not in USUAL):
        what = f.get("error", "")[:90]
        if f.get("seconds"):
            part = f"{f['gb_per_s'] / copy:.3f}" if copy else "-"
            what = f"{1e6 * f['seconds']:9.1f} {f['gb_per_s']:6.0f} {part:>8} {f.get('worst_error', 0):6.1f}"
        print(f"{name(r['matrix']):44} {r['value']:5} {f['form']:12} {what}")


def phases(path):
    """Prints the fraction of partition and merge in the end-to-end time, by format. As in the paper, the matrix starts in the format."""
    print(f"\n{'matrix':44} {'flags':36} {'convert':>10} {'partition':>10} {'distribute':>10} {'kernel':>10} {'merge':>10}  partition and merge of the total without reading and converting")
    most = {}
    for r in lines(path):
        p = r["phases"]
        total = p["total_s"] - p["read_s"] - p.get("convert_s", 0)
        part, merge = p["partition_s"] / total, p["merge_s"] / total
        print(f"{name(r['matrix']['name']):44} {r['flags']:36} {p.get('convert_s', 0):10.6f} {p['partition_s']:10.6f} {p['distribute_s']:10.6f} {p['kernel_s']:10.6f} {p['merge_s']:10.6f}  {part:.1%} {merge:.1%}")
        if "strategy" not in r["flags"]:
            key = r["flags"].split("--format ")[1].split()[0]
            if "--devices" in r["flags"]:
                key += " over " + r["flags"].split("--devices ")[1].split()[0]
            was = most.get(key, (0, 0))
            most[key] = (max(was[0], part), max(was[1], merge))
    aims = {"csr": 0.038, "csc": 0.09, "coo": 0.17}
    for key, (part, merge) in most.items():
        aim = aims[key.split()[0]]
        verdict(f"{key}: most of the time for the partition", f"{part:.1%}", "2 %", part < 0.02)
        verdict(f"{key}: most of the time for the merge", f"{merge:.1%}", f"{aim:.1%}", merge < aim)


def iterations(path):
    """Prints the time of an iteration of a solver or of PageRank."""
    print(f"\n{'iterations':22} {'matrix':44} {'number':>7} {'us':>10} {'total, s':>10}")
    for r in lines(path):
        if "error" in r:
            print(f"{r['what']:22} failed: {r['error']}")
            continue
        p = r["phases"]
        took = p["iterate_s"] if "iterate_s" in p else p["product_s"] + p["precond_s"] + p["vector_s"]
        print(f"{r['what']:22} {name(r['matrix']['name']):44} {r['iterations']:7} {1e6 * took / max(r['iterations'], 1):10.1f} {p['total_s']:10.3f}")


def triangular(results):
    """Prints the time of each triangular solve, and that of cuSPARSE over ours."""
    print(f"\n{'triangular':44} {'value':5} {'side':5} {'nnz':>11} {'us':>9} {'GB/s':>6} {'cusparse':>9} {'worst':>6}  how")
    for r in results:
        forms = {f["form"]: f for f in r["forms"]}
        own, rival = forms.get("own", {}), forms.get("cusparse", {})
        line = f"{name(r['matrix']):44} {r['value']:5} {r['side']:5} {r['nnz']:11} "
        if not own.get("seconds"):
            print(line + f"failed: {own.get('error')}")
            continue
        over = f"{rival['seconds'] / own['seconds']:.2f}" if rival.get("seconds") else "-"
        print(line + f"{1e6 * own['seconds']:9.1f} {own['gb_per_s']:6.0f} {over:>9} {own.get('worst_error', 0):6.1f}  {own['why']}{', cuSPARSE: ' + rival['error'][:60] if 'error' in rival else ''}")


def spgemm(results, peers):
    """Prints the times of A A, and that of cuSPARSE (by CuPy) over ours."""
    print(f"\n{'spgemm':44} {'value':5} {'products':>11} {'entries':>11} {'count us':>9} {'fill us':>9} {'cusparse':>9} {'wrong':>6}")
    rivals = {(name(r["matrix"]), r["value"]): r for r in peers}
    for r in results:
        line = f"{name(r['matrix']):44} {r['value']:5} "
        if "error" in r:
            print(line + f"failed: {r['error']}")
            continue
        rival = rivals.get((name(r["matrix"]), r["value"]), {})
        over = f"{rival['seconds'] / (r['count_s'] + r['fill_s']):.2f}" if rival.get("seconds") else "-"
        print(line + f"{r['products']:11} {r['entries']:11} {1e6 * r['count_s']:9.1f} {1e6 * r['fill_s']:9.1f} {over:>9} {r['wrong_rows']:6}")


def variants(results):
    """Prints the speed of each variant of a form over the speed without changes."""
    print(f"\n{'variant':12} {'matrix':44} times as fast as it is")
    base = {}
    for r in results:
        seconds = {f["form"]: f["seconds"] for f in r["forms"] if f.get("seconds")}
        if r["variant"] in ("as it is", "streamed"):
            base.update({(r["matrix"], form): s for form, s in seconds.items()})
        line = " ".join(f"{form} {base[r['matrix'], form] / s:.3f}" for form, s in seconds.items() if (r["matrix"], form) in base)
        line += "".join(f", {f['gb_per_s']:.1f} GB/s" for f in r["forms"] if f["form"] == "streamed" and "gb_per_s" in f)
        if not seconds:
            line = "failed: " + next((f["error"] for f in r["forms"] if "error" in f), "see messages.log")[:90]
        if p := r.get("pinned"):
            line += f", refused: {p['error']}" if "error" in p else f", pinned in {p['seconds']:.2f} s, {1e3 * p['seconds'] / (p['bytes'] / 2**20):.2f} ms a MiB"
        print(f"{r['variant']:12} {name(r['matrix']):44} {line}")


def counters(path):
    """Prints the counts of ncu for one product, summed over its kernels, and the least bytes it moves."""
    print(f"\n{'counted':44} {'form':10} {'kernels':>7} {'us':>8} {'GB/s':>6} {'bytes':>6} {'least':>6} {'L2':>6} {'L1 hit':>6} {'warp':>6} {'issue':>6} {'warps':>6}")
    print(f"{'':44} {'':10} {'':7} {'':8} {'DRAM':>6} {'entry':>6} {'entry':>6} {'sector':>6} {'':6} {'instr.':>6} {'%':>6} {'%':>6}  sectors and instructions: an entry")
    with open(path) as f:
        for text in f.read().split("=== ")[1:]:
            spec, form = text.splitlines()[0].rsplit(" ", 1)
            said = next((json.loads(t) for t in text.splitlines() if t.startswith("{")), None)
            table = [t for t in text.splitlines() if t.startswith('"')]
            kernels = {}
            for r in csv.DictReader(table):
                try:
                    kernels.setdefault(r["ID"], {})[r["Metric Name"]] = float(r["Metric Value"].replace(",", ""))
                except (KeyError, TypeError, ValueError):  # a different table, or no number
                    pass
            if not kernels or not said:
                print(f"{spec.removeprefix('gen:'):44} {form:10} not counted")
                continue
            total = lambda m: sum(k[m] for k in kernels.values()) if all(m in k for k in kernels.values()) else None
            ns = total("gpu__time_duration.sum")
            longest = max(kernels.values(), key=lambda k: k.get("gpu__time_duration.sum", 0))
            moved = total("dram__bytes_read.sum")
            if moved is not None:
                moved += total("dram__bytes_write.sum") or 0
            least, f, size = said["least_bytes"], said["forms"][0], 8 if said["value"] == "fp64" else 4
            if f["form"] == "slices":
                least = f["bytes"] + size * (said["rows"] + said["cols"])
            loads = total("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
            over = lambda a, b, digits=2: f"{a / b:.{digits}f}" if a is not None and b else "-"
            print(f"{spec.removeprefix('gen:'):44} {form:10} {len(kernels):7} {over(ns, 1e3, 1):>8} {over(moved, ns, 0):>6} {over(moved, said['nnz']):>6} {over(least, said['nnz']):>6} "
                  f"{over(total('lts__t_sectors_op_read.sum'), said['nnz']):>6} {over(total('l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum'), loads):>6} "
                  f"{over(total('smsp__inst_executed.sum'), said['nnz']):>6} {over(longest.get('smsp__issue_active.avg.pct_of_peak_sustained_active'), 1, 0):>6} "
                  f"{over(longest.get('sm__warps_active.avg.pct_of_peak_sustained_active'), 1, 0):>6}")


def main(folder):
    results = merged(lines(os.path.join(folder, "results.jsonl")))
    copy = next((r["gb_per_s"] for r in results if r["what"] == "copy"), None)
    print(f"copy bandwidth {copy:.0f} GB/s" if copy else "copy bandwidth: not measured")
    raced = [r for r in results if r.get("set") == "collection"]
    own = {name(r["matrix"]) for r in raced}
    peers = [r for r in results if r["what"] == "peer" and name(r["matrix"]) in own]
    results = [r for r in results if "set" not in r and (r["what"] != "peer" or name(r["matrix"]) not in own)]
    products(results, copy)
    if raced:
        collection(raced + peers)
    measured = [r for r in results if r["what"] == "product"]
    if any(f["form"] not in USUAL for r in measured for f in r["forms"]):
        others(measured, copy)
    solves = [r for r in results if r["what"] == "triangular"]
    if solves:
        triangular(solves)
    squares = [r for r in results if r["what"] == "spgemm"]
    if squares:
        spgemm(squares, [r for r in results if r["what"] == "peer spgemm"])
    path = os.path.join(folder, "phases.jsonl")
    if os.path.exists(path) and os.path.getsize(path):
        phases(path)
    path = os.path.join(folder, "others.jsonl")
    if os.path.exists(path):
        iterations(path)
    path = os.path.join(folder, "counters.txt")
    if os.path.exists(path):
        counters(path)
    tried = [r for r in results if r["what"] == "variant"]
    if tried:
        variants(tried)


if __name__ == "__main__":
    if len(sys.argv) != 2 or not os.path.isfile(os.path.join(sys.argv[1], "results.jsonl")):
        sys.exit("usage: gpu-summary.py DIR, with the results.jsonl of scripts/gpu-run in DIR")
    main(sys.argv[1])
