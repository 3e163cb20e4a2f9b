/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing more is needed; see <linux/tracepoint.h>. */
