#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# nohz.sh for a kernel without the fix of the tick: it must see the bug.
set -- broken
. /mnt/t/nohz.sh
