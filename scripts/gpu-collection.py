#!/usr/bin/env python3
"""Helps the stage collection of scripts/gpu-run.

    gpu-collection.py unpack DIR PACK...              unpacks NAME.msr.xz of each pack to DIR/NAME.msr
    gpu-collection.py lacking RESULTS KIND FILE...    prints those files that lack results

The packs are those of scripts/gpu-check. What cannot be unpacked is named on standard error, the
rest is unpacked, and the exit status is 1. KIND is product or peer. A matrix lacks results in
results.jsonl unless a line says that it failed, or the last measurement of it, in float32, is there.
"""
import json
import lzma
import os
import re
import sys
import tarfile
from multiprocessing.pool import ThreadPool

FAILED = {"product": "failed", "peer": "peers failed"}


def name(path):
    return os.path.basename(path).removesuffix(".msr")


def unpack(folder, packs):
    def write(file, data):
        """Writes one matrix, and returns what is wrong with it."""
        try:
            content = lzma.decompress(data)
            if not content.startswith(b"\x89MSR"):
                return f"{file}: not a matrix"
            with open(os.path.join(folder, file), "wb") as f:
                f.write(content)
        except (lzma.LZMAError, OSError) as e:
            return f"{file}: {e}"
        return None

    wrong, written = [], []
    with ThreadPool() as pool:
        for pack in packs:
            try:
                with tarfile.open(pack, "r:") as tar:
                    for member in tar:
                        if not member.isfile() or not re.fullmatch(r"[A-Za-z0-9._-]+\.msr\.xz", member.name):
                            wrong.append(f"{pack}: {member.name!r} is not the name of a packed matrix")
                            continue
                        written.append(pool.apply_async(write, (member.name.removesuffix(".xz"), tar.extractfile(member).read())))
            except (tarfile.TarError, OSError, EOFError) as e:
                wrong.append(f"{pack}: {e}")
        wrong += [w for r in written if (w := r.get())]
    for w in wrong:
        print("gpu-collection.py:", w, file=sys.stderr)
    return 1 if wrong else 0


def lacking(results, kind, files):
    done = set()
    with open(results) as f:
        for line in f:
            try:
                r = json.loads(line)
            except ValueError:  # of a killed program
                continue
            if not isinstance(r, dict):
                continue
            last = r.get("value") == "fp32" and (r.get("library") == "torch" or any(form["form"] == "auto" for form in r.get("forms", [])))
            if r.get("what") == kind and last and (kind == "peer" or r.get("set") == "collection") or r.get("what") == FAILED[kind] and r.get("set") == "collection":
                done.add(name(r["matrix"]))
    for f in files:
        if name(f) not in done:
            print(f)
    return 0


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "unpack":
        sys.exit(unpack(sys.argv[2], sys.argv[3:]))
    if len(sys.argv) > 3 and sys.argv[1] == "lacking" and sys.argv[3] in FAILED:
        sys.exit(lacking(*sys.argv[2:4], sys.argv[4:]))
    sys.exit(__doc__)
