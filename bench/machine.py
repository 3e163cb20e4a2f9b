#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Says on which machine a benchmark ran, and what else the machine did.

    machine.py FILE     writes a line of JSON, {"machine": {...}}, to FILE; if FILE has
                        one already, adds the load since then

What a file of /proc or /sys does not say is left out. Nothing names the machine or its
user, so that the result can be published.
"""

import json
import os
import platform
import re
import subprocess
import sys

SYSTEM = "/sys/devices/system/cpu"


def text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def field(path, name):
    """Returns the value of the first line of a file that is "name : value"."""
    found = re.search(rf"^{name}\s*:\s*(.*)$", text(path), re.MULTILINE)
    return found.group(1) if found else ""


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True,
                              check=False).stdout.strip()
    except OSError:
        return ""


def caches():
    """Returns the caches of the first processor, as in "48 KiB L1, 2 MiB L2"."""
    found = []
    for index in range(8):
        path = f"{SYSTEM}/cpu0/cache/index{index}"
        if text(path + "/type") not in ("Data", "Unified"):
            continue
        size = text(path + "/size").replace("K", "")
        if size.isdigit():
            size = int(size)
            size = f"{size // 1024} MiB" if size >= 1024 else f"{size} KiB"
            found.append(f"{size} L{text(path + '/level')}")
    return ", ".join(found)


def mitigations():
    """Returns, for each fault of the processor that affects it, what the kernel does."""
    path = SYSTEM + "/vulnerabilities"
    faults = {}
    for name in sorted(os.listdir(path)) if os.path.isdir(path) else ():
        state = text(f"{path}/{name}")
        if state and state != "Not affected":
            faults[name] = state
    return faults


def hypervisor():
    if re.search(r"^flags.*\bhypervisor\b", text("/proc/cpuinfo"), re.MULTILINE):
        return output("systemd-detect-virt", "--vm") or "yes, of an unknown kind"
    return "none"


def module():
    loaded = os.path.isdir("/sys/module/hwtimer")
    return text("/sys/module/hwtimer/version") or "loaded" if loaded else ""


def stolen():
    """Returns the time that the processors have worked, and that others took, ticks."""
    fields = [int(part) for part in text("/proc/stat").split("\n")[0].split()[1:]]
    return sum(fields[:3]) + sum(fields[5:8]), fields[7] if len(fields) > 7 else 0


def describe():
    memory = field("/proc/meminfo", "MemTotal").split()
    governor = text(SYSTEM + "/cpu0/cpufreq/scaling_governor")
    pages = re.search(r"\[(\w+)\]", text("/sys/kernel/mm/transparent_hugepage/enabled"))
    return {
        "processor": field("/proc/cpuinfo", "model name") or platform.machine(),
        "processors": os.cpu_count(),
        "threads of a core": len(re.split(
            "[,-]", text(SYSTEM + "/cpu0/topology/thread_siblings_list"))),
        "caches": caches(),
        "hypervisor": hypervisor(),
        "governor": governor or "not to be seen: the machine or its host decides",
        "memory, MiB": int(memory[0]) // 1024 if memory else None,
        "large pages": pages.group(1) if pages else "none",
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "mitigations": mitigations(),
        "module": module(),
        "compiler": "gcc " + output("gcc", "-dumpfullversion"),
        "date": output("date", "--utc", "+%Y-%m-%d"),
        "commit": output("git", "describe", "--always", "--dirty", "--abbrev=10"),
        "load before": float(text("/proc/loadavg").split()[0]),
    }


def main():
    path = sys.argv[1]
    busy, steal = stolen()
    before = text(path)
    if before:
        row = json.loads(before)
        machine = row["machine"]
        busy -= row["ticks"][0]
        steal -= row["ticks"][1]
        machine["load after"] = float(text("/proc/loadavg").split()[0])
        machine["stolen by the host, %"] = round(100 * steal / max(busy, 1), 1)
    else:
        row = {"machine": describe(), "ticks": [busy, steal]}
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
