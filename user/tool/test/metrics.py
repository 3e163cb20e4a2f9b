#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Reads the output of hwtimerctl metrics with the parser of prometheus_client, and checks what
the parser does not: that the histogram adds up, and that each class has an end of its own.

    usage: metrics.py FILE
"""

import sys

from prometheus_client import parser


def check_histogram(family):
    counts = [(float(sample.labels["le"]), sample.value)
              for sample in family.samples if sample.name.endswith("_bucket")]
    assert len(counts) == 96, len(counts)
    assert all(one[0] < other[0] for one, other in zip(counts, counts[1:]))
    assert all(one[1] <= other[1] for one, other in zip(counts, counts[1:]))
    # Four classes for each power of two: each end is twice that of the fourth before.
    for one, other in zip(counts[4:-1], counts[8:-1]):
        assert 1.99 < other[0] / one[0] < 2.01, (one, other)
    values = {sample.name.rpartition("_")[2]: sample.value for sample in family.samples}
    assert counts[-1] == (float("inf"), values["count"])
    assert abs(values["sum"] - values["count"] * 600e-9) < 1e-12, values
    assert dict(counts)[767e-9] == values["count"]


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        families = list(parser.text_string_to_metric_families(file.read()))
    by_name = {family.name: family for family in families}
    assert len(by_name) == len(families)
    types = {family.type for family in families}
    assert types == {"gauge", "counter", "histogram"}, types
    assert by_name["hwtimer_instances"].samples[0].value == 1
    scheduled = by_name["hwtimer_scheduled"].samples
    assert len(scheduled) == 1 and scheduled[0].value == 1100, scheduled
    assert scheduled[0].labels == {"pid": "7", "fd": "3", "comm": 'a "b"'}
    assert by_name["hwtimer_expired"].samples[0].value == 275
    check_histogram(by_name["hwtimer_lateness_seconds"])


main()
