# SPDX-License-Identifier: GPL-2.0
#
# Included by the top-level Makefile; also make -f kernel/kernel.mk TARGET from
# the top folder.
.PHONY: kernel-check check-vm

## kernel-check: all series apply to all versions and are clean; nothing is built (fetches the source packages once)
kernel-check:
	kernel/check

## check-vm: kernels built, booted and tested in QEMU guests, softnetd in them; CHECK=quick or full
check-vm:
	tests/vm/check
