# SPDX-License-Identifier: MIT
"""The version, which is that of the module and the library"""

__version__ = "0.9"
