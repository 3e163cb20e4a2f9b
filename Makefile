# SPDX-License-Identifier: GPL-2.0-only
# hwtimer: all commands. `make help` lists them.
#
# Kbuild says how the module itself is built; test/vm/ has the scripts that make kernels and
# virtual machines.

# Neither make nor the kernel's makefiles can do with these in a path.
special := : ; & | < > ( ) * ? [ ] ' " ` % = $$ \#
ifneq ($(words $(CURDIR))$(strip $(foreach char,$(special),$(findstring $(char),$(CURDIR)))),1)
$(error The path of this checkout must have no spaces, and none of $(special): $(CURDIR))
endif

# After `su`, these are missing on Debian, and depmod and ldconfig are there.
export PATH := $(PATH):/usr/sbin:/sbin

KDIR ?= /lib/modules/$(shell uname -r)/build
# Without headers, nothing can be built, but uninstalled.
KVER = $(or $(shell cat $(KDIR)/include/config/kernel.release 2>/dev/null),$(shell uname -r))
PREFIX ?= /usr/local

# The kernel of `make demo` and `make vm`, by its name in test/vm/kernel.sh. host is one that is given
# by hand: VMLINUZ= is its image, KDIR= has its headers, MODULES= its modules.
KERNEL ?= stock-6.12

# With HERE=1, demo, bench and bench-server use this machine's own module.
HERE ?=

# $(call need,PACKAGES): what these Debian packages have, unless it is here. `make check` and `make
# demo` install what is missing; the others ask on a terminal, or say what they lack.
need = bash -c '. test/vm/lib.sh && need_packages $(1)'
offer = bash -c '. test/vm/lib.sh && offer_packages $(1)' || true
check check-all demo: export HWTIMER_INSTALL ?= 1

# The first target is what `make` builds.
##@ Build

.PHONY: modules
modules: ## the module for the running kernel, or KDIR=
	@test/vm/build.sh --kdir '$(KDIR)' $(MAKEOVERRIDES) >/dev/null

##@ Try it

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^##@ / { group = substr($$0, 5) } \
		/^[a-z-]*:.*## / { text[group] = text[group] \
			sprintf("  make %-17s%s\n", $$1, $$2) } \
		END { n = split("Try it,Build,Install (as root),Test,Measure,Before a release", \
				groups, ","); \
		      for (i = 1; i <= n; i++) printf "%s\n%s", groups[i], text[groups[i]] }' \
		Makefile

.PHONY: demo
demo: ## a million timers in a VM; HERE=1: on your own module
ifdef HERE
	@$(MAKE) --no-print-directory demo-programs
	@[ -c /dev/hwtimer ] || { \
		echo "/dev/hwtimer does not exist: load the module first," \
		     "with 'make && sudo insmod build/$$(uname -r)/hwtimer.ko'" \
		     "or 'sudo make install && sudo modprobe hwtimer'" >&2; \
		exit 1; }
	@build/demo/hwtimer-demo
else
	@test/vm/build.sh $(KERNEL) >/dev/null
	@$(MAKE) --no-print-directory demo-programs
	@test/vm/run.sh --kernel $(KERNEL) \
		--file build/$(KERNEL)/hwtimer.ko=/hwtimer/hwtimer.ko \
		--file build/demo/hwtimer-demo=/hwtimer/hwtimer-demo \
		-- sh -c 'insmod hwtimer.ko && exec ./hwtimer-demo'
endif

# More files for the directory where the shell starts
FILES ?=

.PHONY: vm
vm: ## a shell in a VM with the module; FILES= to take along
	@test/vm/shell.sh $(KERNEL) $(FILES)

##@ Measure

# Options of bench/bench.sh: --quick, --no-netty, --reps 3; --pages: what the pages show, in 15
# minutes, and writes their tables
BENCH ?=

.PHONY: bench
bench: ## hwtimer and its rivals; HERE=1: on your own module
	@bench/bench.sh $(if $(HERE),--places 'core this') $(BENCH)

# Options of server-bench: --connections 10000 --every 1000, --systems libevent,hwtimer ...
BENCH_SERVER ?= --most 60000

.PHONY: bench-server
bench-server: ## a server that pushes timeouts out; HERE=1
ifdef HERE
	@$(MAKE) --no-print-directory bench-programs
	@build/bench/server-bench $(BENCH_SERVER)
else
	@test/vm/build.sh uml-7.3 >/dev/null
	@$(MAKE) --no-print-directory bench-programs
	@test/vm/run.sh --kernel uml-7.3 --mem 4096 \
		--file build/uml-7.3/hwtimer.ko=/hwtimer/hwtimer.ko \
		--file build/bench/server-bench=/hwtimer/server-bench \
		-- sh -c 'insmod hwtimer.ko && ./server-bench --counter $(BENCH_SERVER)'
endif

# Options of user/daemon/bench/bench.sh: --quick, --no-bullmq, --reps 3 ...
BENCH_REDIS ?=

.PHONY: bench-redis
bench-redis: ## hwtimerd and its rivals
	@user/daemon/bench/bench.sh $(BENCH_REDIS)

# Options of bench-core: --timers 1000,10000 --pairs 21 --only bulk
BENCH_CORE ?=

.PHONY: bench-core
bench-core: | compiler ## the module as a program, beside a bare wheel
	@$(call need,valgrind)
	@$(MAKE) --no-print-directory -C bench OUT='$(CURDIR)/build/bench' core >/dev/null
	@build/bench/bench-core $(BENCH_CORE)

# Options of hwtimer-wheel-bench, as the defaults of `make bench-wheel`
BENCH_WHEEL ?= --buckets 1024,2048,4096,8192 --reps 5

.PHONY: bench-wheel
bench-wheel: bench-programs ## wheels of several sizes
	@build/bench/hwtimer-wheel-bench $(BENCH_WHEEL)
	@build/bench/hwtimer-wheel-bench --slack

##@ Test

# Steps of test/vm/check.sh, if not all: lint debug races trace coverage hwtimerd ...
STEPS ?=

.PHONY: check
check: ## all tests in 10 minutes, or STEPS="lint debug"
	@test/vm/check.sh $(STEPS)

##@ Before a release

.PHONY: check-all
check-all: ## more kernels, larger sizes; 80 minutes and more
	@test/vm/check.sh --all

##@ Test

# What the threads of the simulation do is decided by SEED, until there were OPS
# operations. KIND=asan: with sanitizers. FAULT: a fault of test/sim/faults/ that is to be found
SEED ?= 1
OPS ?= 1000000
KIND ?= plain
FAULT ?=

.PHONY: simulate
simulate: | compiler ## threads driven by SEED=; OPS=, KIND=, FAULT=
	@test/sim/run.sh '$(KIND)' '$(FAULT)' --seeds '$(SEED)' --ops '$(OPS)'

# Length of `make torture` and `make fuzz`. The KERNEL of torture is one that can do all that
# disturbs timers. With ICOUNT=5, one that QEMU runs is slow, but its hours pass in minutes
# (test/vm/run.sh). More arguments for the program: TORTURE="-w 8 -x suspend"
MINUTES ?= 5
TORTURE ?=
torture: KERNEL = debug-6.12

.PHONY: torture
torture: ## programs under torture; MINUTES=, KERNEL=, ICOUNT=
	@test/torture/torture.sh --kernel $(KERNEL) --minutes $(MINUTES) \
		$(if $(ICOUNT),--icount $(ICOUNT)) -- $(TORTURE)

# FILES: sources to change, by default those that matter most. SAMPLE: number of changes,
# drawn with SEED. MUTANTS: more options of test/mutants/mutants.py
SAMPLE ?=
MUTANTS ?= --require 90

.PHONY: mutants
mutants: ## changes that no test finds; FILES=, SAMPLE=
	@bash -c '. test/vm/lib.sh && need_debian "make mutants" && \
		need_packages build-essential python3 rsync'
	@test/mutants/mutants.py $(if $(SAMPLE),--sample $(SAMPLE) --seed $(SEED)) \
		$(MUTANTS) $(FILES)

# The fuzzer's SEED: the seed of a run to be repeated; without it, another one each time
.PHONY: fuzz
fuzz: ## wild calls from many processes; SEED=, MINUTES=
	@test/vm/build.sh '$(if $(filter file,$(origin KERNEL)),uml-7.3,$(KERNEL))' >/dev/null
	@$(MAKE) --no-print-directory fuzz-programs
	@test/fuzz/vm.sh --kernel '$(if $(filter file,$(origin KERNEL)),uml-7.3,$(KERNEL))' \
		--seconds $$(($(MINUTES) * 60)) -- \
		--seed '$(if $(filter file,$(origin SEED)),0,$(SEED))'

.PHONY: lint
lint: ## checkpatch, clang-format, sparse, shellcheck, rooms
	@test/vm/check.sh lint

# A glob of KUnit suites, SUITE="shrink*", or SUITE.TEST; by default all
SUITE ?=

.PHONY: kunit
kunit: ## unit tests in User-Mode Linux; SUITE=wheel
	@test/vm/check.sh --suites '$(SUITE)' kunit

# Selftests, TEST="read poll.32"; by default all that the table in selftests/run.sh has for the
# KERNEL
TEST ?=
selftests: KERNEL = uml-7.3

.PHONY: selftests
selftests: ## the device from user space; TEST=read, KERNEL=
	@test/vm/check.sh --kernel '$(KERNEL)' --tests '$(TEST)' selftests

# ---- programs ----
# All programs for test machines are static, as such a machine has no libraries.

# Any compiler will do; only a Debian machine without one gets it.
.PHONY: compiler
compiler:
	@command -v $(CC) >/dev/null || \
		$(call need,build-essential)

# For 32-bit programs, too
.PHONY: compilers
compilers:
	@$(call need,build-essential gcc-multilib)

.PHONY: demo-programs
demo-programs:
	@$(call need,build-essential libc6-dev)
	@$(MAKE) --no-print-directory -C examples/demo OUT='$(CURDIR)/build/demo'

.PHONY: bench-programs
bench-programs: | compiler
	@$(call need,liburing-dev libuv1-dev libevent-dev)
	@$(MAKE) --no-print-directory -C bench OUT='$(CURDIR)/build/bench'

##@ Build

# One example talks to Redis, with hiredis, one has a ring, with liburing, and one a loop of libuv;
# without these, they are left out.
.PHONY: examples
examples: | compiler ## programs as a user would write them
	@$(call offer,pkg-config libhiredis-dev liburing-dev libuv1-dev)
	@$(MAKE) --no-print-directory -C examples OUT='$(CURDIR)/build/examples'

DAEMON = $(MAKE) --no-print-directory -C user/daemon

.PHONY: daemon
daemon: | daemon-packages ## hwtimerd, which fires timers kept in Redis
	+@$(DAEMON) OUT='$(CURDIR)/build/daemon'

# For virtual machines, which have no libraries
.PHONY: daemon-static
daemon-static: | daemon-packages
	+@$(DAEMON) OUT='$(CURDIR)/build/daemon-static' LDFLAGS=-static

# The user who keeps accounts, and what else its tests need
.PHONY: daemon-tests
daemon-tests: | daemon-packages
	@$(MAKE) --no-print-directory -C user/daemon/test OUT='$(CURDIR)/build/daemon-tests'

.PHONY: daemon-packages
daemon-packages: | compiler
	@$(call need,libhiredis-dev libevent-dev)

# The selftests use the kernel's own test harness. test/vm/check.sh builds them for other
# architectures, too, with the variables of test/vm/arch.sh.
ARCH_SUFFIX ?=
CROSS_COMPILE ?=
ONLY ?=
ONLY_32 ?=

.PHONY: selftest-programs
selftest-programs: | compilers
	@$(call need,libuv1-dev libevent-dev libglib2.0-dev libsystemd-dev libboost-dev pkg-config)
	@tools=$$(test/vm/kernel.sh tools-7.3)/source/tools/testing/selftests && \
	$(MAKE) --no-print-directory -C selftests \
		OUT='$(CURDIR)/build/selftests$(ARCH_SUFFIX)' \
		CROSS_COMPILE='$(CROSS_COMPILE)' ONLY='$(ONLY)' ONLY_32='$(ONLY_32)' \
		KSELFTEST_DIR="$$tools"

.PHONY: torture-program
torture-program: | compiler
	@$(MAKE) --no-print-directory -C test/torture OUT='$(CURDIR)/build/torture'

# Attackers beside a victim: `test/vm/check.sh tenants`
.PHONY: tenants-programs
tenants-programs: | compiler
	@tools=$$(test/vm/kernel.sh tools-7.3)/source/tools/testing/selftests && \
	$(MAKE) --no-print-directory -C selftests/tenants \
		OUT='$(CURDIR)/build/tenants' KSELFTEST_DIR="$$tools"

# Wild calls from many processes: `make fuzz`
.PHONY: fuzz-programs
fuzz-programs: | compiler
	@$(MAKE) --no-print-directory -C test/fuzz OUT='$(CURDIR)/build/fuzz'

# The examples of these pages are their blocks of C that have a main() and need the device, but for
# servers. What the first one prints is the block after it that has no language.
README_EXAMPLES = example-1 example-2 example-3 example-4 example-5 example-6
EXAMPLE_PAGES = README.md Documentation/guide.md Documentation/calls.md Documentation/coming-from.md

.PHONY: readme-programs
readme-programs: $(README_EXAMPLES:%=build/readme/%) build/readme/expected-1

build/readme/example-%.c: $(EXAMPLE_PAGES)
	@mkdir -p $(@D)
	@awk -v wanted=$* '/^```c$$/ { text = ""; inside = 1; next } \
	      /^```/ && inside { inside = 0; \
				 is = text ~ /main\(/ && text !~ /hwt_open_manual|listen\(/; found += is; \
				 if (is && found == wanted) { printf "%s", text; exit } } \
	      inside { text = text $$0 "\n" } \
	      END { exit found != wanted }' \
		$^ >$@.new || { echo "$^: no example $*" >&2; exit 1; }
	@mv $@.new $@

build/readme/expected-1: README.md
	@mkdir -p $(@D)
	@awk '/^and it prints$$|, and it prints$$/ { wanted = 1; next } \
	     wanted && /^```$$/ { if (inside) exit; inside = 1; next } \
	     inside { print }' $< >$@.new && [ -s $@.new ] && mv $@.new $@

build/readme/%: build/readme/%.c $(wildcard user/lib/*.[ch] user/lib/adapters/*.h) uapi/linux/hwtimer.h | compiler
	@$(call need,liburing-dev)
	gcc -O2 -Wall -Wextra -Werror -static -pthread -Iuapi -Iuser/lib -Iuser/lib/adapters -o $@ $< \
		$(wildcard user/lib/*.c) -luring

# ---- this machine ----

##@ Install (as root)

PAGES = $(filter-out $(DAEMON_PAGE),$(wildcard user/man/*.[0-9])) $(INTERFACE_PAGE)
page_dir = $(DESTDIR)$(PREFIX)/share/man
completion_dir = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
# Debian's packages have another place.
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
zsh_dir = $(DESTDIR)$(ZSHDIR)
fish_dir = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d

# The header is the only description of the interface; this page is made from it.
INTERFACE_PAGE = build/man/hwtimer_interface.4

$(INTERFACE_PAGE): user/man/interface.awk uapi/linux/hwtimer.h
	@mkdir -p $(@D)
	@awk -f $^ >$@.new && mv $@.new $@

# `man FUNCTION` and `man STRUCTURE` find the page that has it: LINK:PAGE, for each function
# in the synopsis of a page but the one that has its name, and each structure and enum
PAGE_LINKS = $(shell awk 'FNR == 1 { page = FILENAME; sub(/.*\//, "", page) } \
	/^\.Sh/ { inside = /SYNOPSIS/ } \
	inside && $$1 == ".Fn" && $$2 ".3" != page && $$2 !~ /^[^a-z]/ { \
		print $$2 ".3:" page } \
	/^(struct|enum) hwtimer_.* \{$$/ { print $$2 ".4:hwtimer_interface.4" }' \
	user/man/*.3 uapi/linux/hwtimer.h)

# hwtimerd needs libraries that the rest does not, so `make install` leaves it out.
DAEMON_PAGE = user/man/hwtimerd.8
UNITDIR ?= $(PREFIX)/lib/systemd/system

# Files for the rest of the system, by their path below $(PREFIX)/lib. Only AUTOLOAD=1
# installs the file that loads the module at boot.
SYSTEM_FILES = udev/rules.d/60-hwtimer.rules sysusers.d/hwtimer.conf \
	systemd/system/hwtimerd.service.d/hwtimer.conf
AUTOLOAD_FILE = modules-load.d/hwtimer.conf
AUTOLOAD ?=
system_dir = $(DESTDIR)$(PREFIX)/lib

# The module's source for DKMS: all that Kbuild builds from, without the tests
VERSION = $(shell sed -n 's/^\#define HWTIMER_VERSION "\(.*\)"/\1/p' version.h)
ROOMS = $(sort $(dir $(shell sed -n '/^hwtimer-y :=/,/[^\\]$$/ s/^\t\([a-z_/]*\.o\).*/\1/p' Kbuild)))
DKMS_SOURCES = dkms.conf COPYING Kbuild \
	$(wildcard $(addsuffix *.[ch],$(ROOMS)) uapi/linux/*.h)
dkms_dir = $(DESTDIR)/usr/src/hwtimer-$(VERSION)

.PHONY: install
install: install-module install-programs install-system ## module, library, tool, manual

.PHONY: uninstall
uninstall: ## remove them
	rm -f '$(DESTDIR)/lib/modules/$(KVER)/updates'/hwtimer.ko*
	$(if $(DESTDIR),,[ ! -d '/lib/modules/$(KVER)' ] || depmod $(KVER))
	+$(LIBRARY) uninstall
	rm -f '$(DESTDIR)$(PREFIX)/bin/hwtimerctl' \
		'$(completion_dir)/hwtimerctl' '$(zsh_dir)/_hwtimerctl' \
		'$(fish_dir)/hwtimerctl.fish'
	for page in $(PAGES); do \
		rm -f "$(page_dir)/man$${page##*.}/$${page##*/}"; \
	done
	for link in $(PAGE_LINKS); do \
		rm -f "$(page_dir)/man$${link##*.}/$${link%:*}"; \
	done
	rm -f '$(DESTDIR)$(PREFIX)/sbin/hwtimerd' '$(page_dir)/man8/hwtimerd.8' \
		'$(DESTDIR)$(UNITDIR)/hwtimerd.service'
	$(if $(DESTDIR),,ldconfig)
	rm -f $(SYSTEM_FILES:%='$(system_dir)/%') '$(system_dir)/$(AUTOLOAD_FILE)'

.PHONY: install-module
install-module: modules
	$(MAKE) -C $(KDIR) M='$(CURDIR)/build/$(KVER)' modules_install \
		INSTALL_MOD_DIR=updates $(if $(DESTDIR),INSTALL_MOD_PATH='$(DESTDIR)')
	$(if $(DESTDIR),,depmod $(KVER))

# The library, the tool and the manual
.PHONY: install-programs
install-programs: $(INTERFACE_PAGE)
	+$(LIBRARY) install
	+$(TOOL)
	install -D -m 755 -t '$(DESTDIR)$(PREFIX)/bin' build/tool/hwtimerctl
	install -D -m 644 user/tool/hwtimerctl.bash \
		'$(completion_dir)/hwtimerctl'
	install -D -m 644 user/tool/hwtimerctl.zsh '$(zsh_dir)/_hwtimerctl'
	install -D -m 644 -t '$(fish_dir)' user/tool/hwtimerctl.fish
	for page in $(PAGES); do \
		install -D -m 644 -t "$(page_dir)/man$${page##*.}" $$page || \
			exit 1; \
	done
	for link in $(PAGE_LINKS); do \
		dir=man$${link##*.}; \
		echo ".so $$dir/$${link#*:}" >"$(page_dir)/$$dir/$${link%:*}" && \
			chmod 644 "$(page_dir)/$$dir/$${link%:*}" || exit 1; \
	done
	$(if $(DESTDIR),,ldconfig)

.PHONY: install-daemon
install-daemon: ## hwtimerd, its manual and its unit
	+$(DAEMON) OUT='$(CURDIR)/build/daemon'
	install -D -m 755 -t '$(DESTDIR)$(PREFIX)/sbin' build/daemon/hwtimerd
	install -D -m 644 -t '$(page_dir)/man8' $(DAEMON_PAGE)
	install -D -m 644 -t '$(DESTDIR)$(UNITDIR)' packaging/systemd/hwtimerd.service
	sed -i 's|/usr/sbin/|$(PREFIX)/sbin/|' '$(DESTDIR)$(UNITDIR)/hwtimerd.service'

# Debian's packages have another place.
PYTHONDIR ?= $(shell python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

user/python/hwtimer/_abi.py: user/python/abi.py uapi/linux/hwtimer.h
	$<

.PHONY: install-python
install-python: user/python/hwtimer/_abi.py ## the Python package; PYTHONDIR= for another place
	install -D -m 644 -t '$(DESTDIR)$(PYTHONDIR)/hwtimer' \
		user/python/hwtimer/*.py user/python/hwtimer/py.typed

.PHONY: uninstall-python
uninstall-python: ## remove it
	rm -rf '$(DESTDIR)$(PYTHONDIR)/hwtimer'

# The group that may open the device, and, if asked for, loading at boot
.PHONY: install-system
install-system:
	for file in $(SYSTEM_FILES) $(if $(AUTOLOAD),$(AUTOLOAD_FILE)); do \
		install -D -m 644 "packaging/$$file" "$(system_dir)/$$file" || \
			exit 1; \
	done
	$(if $(DESTDIR),,getent group hwtimer >/dev/null || groupadd --system hwtimer)

.PHONY: install-dkms
install-dkms: ## have DKMS build the module for each kernel
	for file in $(DKMS_SOURCES); do \
		install -D -m 644 "$$file" "$(dkms_dir)/$$file" || exit 1; \
	done
	$(if $(DESTDIR),,dkms install 'hwtimer/$(VERSION)')

.PHONY: uninstall-dkms
uninstall-dkms: ## remove it
	$(if $(DESTDIR),,dkms remove 'hwtimer/$(VERSION)' --all)
	rm -rf '$(dkms_dir)'

##@ Build

LIBRARY = $(MAKE) --no-print-directory -C user/lib OUT='$(CURDIR)/build/lib' \
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)'

TOOL = $(MAKE) --no-print-directory -C user/tool OUT='$(CURDIR)/build/tool'

.PHONY: library
library: | compiler ## libhwtimer, static and shared
	+@$(LIBRARY)

# Without jansson, the tool cannot read records.
.PHONY: tool
tool: | compiler ## hwtimerctl
	@$(call offer,pkg-config libjansson-dev)
	+@$(TOOL)

##@ Before a release

# What is not committed is not in it.
.PHONY: dist
dist: ## the source as a tarball, in build/dist
	@[ ! -e .git ] || [ -z "$$(git status --porcelain)" ] || { \
		echo "there are changes that are not committed" >&2; exit 1; }
	@test/vm/dist.sh 'build/dist/hwtimer-$(VERSION).tar.xz'
	@sha256sum 'build/dist/hwtimer-$(VERSION).tar.xz'

##@ Build

.PHONY: clean
clean: ## remove build/; kernels stay in the cache
	rm -rf build user/python/hwtimer/_abi.py
