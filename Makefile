# SPDX-License-Identifier: GPL-2.0-or-later
# softnetd: one Makefile, not recursive. `make help` lists what it can do.

PREFIX     ?= /usr
SYSCONFDIR ?= /etc
BUILD      ?= build
V          ?= 0
VERSION    := 0.1

CC         ?= gcc
CLANG      ?= clang
PKG_CONFIG ?= pkg-config
WARNINGS   := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wundef -Wvla
CFLAGS     ?= -O2 -g
ifeq ($(WERROR),1)
WARNINGS   += -Werror
endif
ifeq ($(SANITIZE),1)
BUILD      := $(BUILD)/sanitize
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

PACKAGES   := libsystemd libnl-3.0 libnl-genl-3.0 libnl-route-3.0 libconfig hwloc jansson smartcols
ALL_CFLAGS  = -std=gnu11 $(CFLAGS) $(WARNINGS) $(SANITIZERS) -D_GNU_SOURCE -DSOFTNETD_VERSION='"$(VERSION)"' \
	      -DPREFIX='"$(PREFIX)"' -Idaemon -I$(BUILD)/include $(shell $(PKG_CONFIG) --cflags $(PACKAGES))
ALL_LIBS    = $(SANITIZERS) $(LDFLAGS) $(shell $(PKG_CONFIG) --libs $(PACKAGES)) -lm
CHECK_LIBS  = $(shell $(PKG_CONFIG) --cflags --libs check)

ifeq ($(V),0)
say = @printf '  %-5s %s\n' $(1) $(2);
endif

# Everything but the two main programs and the CLI's verbs is one archive, which tests link too.
DAEMON_DIRS := base model observe decide act profile engine serve
LIB_SOURCES := $(foreach d,$(DAEMON_DIRS),$(wildcard daemon/$(d)/*.c))
CTL_SOURCES := $(wildcard daemon/ctl/*.c)
# … and those of the control law in simulated time, with a receive path that they share.
UNIT_TESTS  := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test-*.c)) \
	       $(patsubst tests/sim/%.c,%,$(wildcard tests/sim/test-*.c))
TEST_LIB    := $(wildcard tests/lib/*.c) $(filter-out tests/sim/test-%,$(wildcard tests/sim/*.c))
FUZZERS     := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz-*.c))
BENCHES     := $(patsubst tests/bench/%.c,%,$(wildcard tests/bench/bench-*.c))

LIB     := $(BUILD)/libsoftnetd.a
object   = $(patsubst %.c,$(BUILD)/%.o,$(1))
# An archive too: a test that makes its own engine must not get the whole daemon by a helper it never
# calls.
TESTS_LIB := $(BUILD)/libtests.a

.PHONY: all run check check-sanitize fuzz bench bench-vm install uninstall clean help format tidy
all: $(BUILD)/softnetd $(BUILD)/softnetctl

$(LIB): $(call object,$(LIB_SOURCES))
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(TESTS_LIB): $(call object,$(TEST_LIB))
	$(call say,AR,$@)rm -f $@ && ar rcs $@ $^

$(BUILD)/softnetd: $(BUILD)/daemon/softnetd.o $(LIB)
	$(call say,LD,$@)$(CC) -o $@ $^ $(ALL_LIBS)

$(BUILD)/softnetctl: $(call object,$(CTL_SOURCES)) $(LIB)
	$(call say,LD,$@)$(CC) -o $@ $^ $(ALL_LIBS)

$(BUILD)/%.o: %.c Makefile
	$(call say,CC,$<)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -Itests -MMD -MP -c -o $@ $<

$(BUILD)/tests/%: $(BUILD)/tests/unit/%.o $(TESTS_LIB) $(LIB)
	$(call say,LD,$@)$(CC) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

$(BUILD)/tests/%: $(BUILD)/tests/sim/%.o $(TESTS_LIB) $(LIB)
	$(call say,LD,$@)$(CC) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o $(TESTS_LIB) $(LIB)
	$(call say,LD,$@)$(CC) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

# Static: it runs in guests of any distribution.
$(BUILD)/tests/bench/load: tests/bench/vm/load.c Makefile
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(filter-out $(SANITIZERS),$(ALL_CFLAGS)) -static -MMD -MP -o $@ $< -lm

$(BUILD)/tests/vm/%: tests/vm/programs/%.c Makefile
	$(call say,LD,$@)mkdir -p $(@D) && $(CC) $(filter-out $(SANITIZERS),$(ALL_CFLAGS)) -static -MMD -MP -o $@ $<

# A fuzz target and a driver that feeds it files: `make check` runs the corpus with it; `make fuzz`
# builds the same target with libFuzzer and lets it search.
$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/tests/fuzz/driver.o $(TESTS_LIB) $(LIB)
	$(call say,LD,$@)$(CC) -o $@ $^ $(CHECK_LIBS) $(ALL_LIBS)

# Only objects that a rule above asks for, and never deleted as intermediate.
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)

## run: install what is missing, build, run softnetd on this host in the foreground; Ctrl-C restores
run:
	@.ci/packages run
	@$(MAKE) --no-print-directory all
	@$(BUILD)/softnetd --foreground --live --config-dir=config

## check: install what is missing, build and run every test that needs no guest (SANITIZE=1: with ASan and UBSan)
check:
	@.ci/packages check
	@$(MAKE) --no-print-directory check-built

.PHONY: check-built
check-built: all $(addprefix $(BUILD)/tests/,$(UNIT_TESTS)) $(addprefix $(BUILD)/tests/fuzz/,$(FUZZERS)) $(addprefix $(BUILD)/tests/bench/,$(BENCHES) load)
	@tests/run $(BUILD)

## check-sanitize: the same with address and undefined-behaviour sanitizers
check-sanitize:
	@$(MAKE) --no-print-directory check SANITIZE=1

## soak: a simulated life of 100,000 ticks (SOAK_TICKS=...); make check runs a shorter one
SOAK_TICKS ?= 100000
.PHONY: soak
soak: $(BUILD)/tests/test-soak
	@SOAK_TICKS=$(SOAK_TICKS) $<

## fuzz: search with libFuzzer, SECONDS_EACH=60 a target, or RUNS=N executions (FUZZER=fuzz-softnet: one target)
SECONDS_EACH ?= 60
fuzz:
	@.ci/packages fuzz
	@RUNS=$(RUNS) tests/fuzz/search $(BUILD) $(SECONDS_EACH) $(FUZZER)

## bench: measure ticks on generated machines and print what was measured (no pass or fail)
bench: all $(addprefix $(BUILD)/tests/bench/,$(BENCHES) load)
	@for b in $(BENCHES); do $(BUILD)/tests/bench/$$b || exit 1; done
	@tests/bench/bench-busy-poll $(BUILD)

## bench-vm: measure the kernel series, the loop and the rivals in QEMU guests (TABLES="low-rate": only these)
bench-vm:
	@tests/bench/bench-vm $(TABLES)

## format: put the sources into the tree's format; tidy: run clang-tidy
format:
	@git ls-files '*.c' '*.h' | grep -v '^kernel/' | xargs clang-format -i
tidy:
	@printf '%s\n' $(LIB_SOURCES) $(CTL_SOURCES) daemon/softnetd.c | \
		xargs -P $(shell nproc) -I{} clang-tidy --quiet {} -- $(ALL_CFLAGS)

## install, uninstall: place files under DESTDIR and PREFIX, or take exactly those away again
include units/install.mk

# Targets of the kernel series and the guests: kernel-check, check-vm.
-include kernel/kernel.mk

## clean: remove build/
clean:
	rm -rf $(BUILD)

## help: this list
help:
	@grep -hE '^## ' $(MAKEFILE_LIST) | sed 's/^## //' | awk -F': ' '{ printf "  %-20s %s\n", $$1, substr($$0, length($$1) + 3) }'
