#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The packages of kernel/build --deb, installed (guest --root debian, deb/ shared): everything is where a
# boot loader and a module tool look for it, and goes again.
. /mnt/t/lib.sh

image=$(ls /mnt/deb/linux-image-*.deb | grep -v dbg | head -n 1)
package=$(dpkg-deb -f "$image" Package)
release=${package#linux-image-}
dpkg -i "$image" >/tmp/dpkg 2>&1
ok $? "dpkg -i $package"
sed 's/^/# /' /tmp/dpkg
[ -s "/boot/vmlinuz-$release" ]
ok $? "/boot/vmlinuz-$release"
grep -q '^CONFIG_SOFTIRQ_KUNIT_TEST=' "/boot/config-$release"
ok $? "its configuration has the series"
# (empty with the test configuration, which builds everything in)
[ -e "/lib/modules/$release/modules.dep" ]
ok $? "its index of modules"
headers=$(ls /mnt/deb/linux-headers-*.deb | head -n 1)
dpkg --force-depends -i "$headers" >/tmp/dpkg 2>&1
ok $? "dpkg -i $(dpkg-deb -f "$headers" Package)"
dpkg --purge "$package" >/tmp/dpkg 2>&1
ok $? "dpkg --purge $package"
[ ! -e "/boot/vmlinuz-$release" ]
ok $? "and it is gone"
finish
