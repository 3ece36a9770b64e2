# SPDX-License-Identifier: GPL-2.0
#
# Included by the top-level Makefile; also make -f kernel/kernel.mk TARGET from
# the top folder.
.PHONY: kernel-check check-vm

# All series apply to all versions and are clean; nothing is built. Needs the
# network once for the source packages.
kernel-check:
	kernel/check

# Kernels built, booted and tested in QEMU guests; CHECK=quick or full.
check-vm:
	tests/vm/check
