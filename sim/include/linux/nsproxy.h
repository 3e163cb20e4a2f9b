/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_LINUX_NSPROXY_H
#define SIM_LINUX_NSPROXY_H

struct nsproxy {
	void *cgroup_ns;
};

#endif /* SIM_LINUX_NSPROXY_H */
