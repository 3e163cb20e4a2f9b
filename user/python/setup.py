# SPDX-License-Identifier: MIT
"""Makes hwtimer/_abi.py before setuptools looks for files. A source distribution has that file,
and neither abi.py nor the header."""

import os
import subprocess
import sys

from setuptools import setup

if os.path.exists("abi.py"):
    subprocess.run([sys.executable, "abi.py"], check=True)
setup()
