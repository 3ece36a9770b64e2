#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What `make install` places, what the rpm's file list says of it, and that `make uninstall` leaves nothing.
. tests/cli/host.bash

# Nothing is built here: the programs are those that are tested. (Make would find them out of date when
# they were built with other flags.)
root=$tmp/root
place() { # VERB [VARIABLE=VALUE…]
	local verb=$1
	shift
	make -s "$verb" -o all BUILD="$BUILD" SANITIZE=0 DESTDIR="$root" "$@"
}
files() { (cd "$root" && find . -type f -printf '/%P\n' | sort); }

if said=$(place install ZSHDIR=/usr/share/zsh/site-functions 2>&1); then
	ok "make install"
else
	not_ok "make install" "$said"
fi
installed=$(files)
for what in /usr/sbin/softnetd /usr/bin/softnetctl /usr/lib/systemd/system/softnetd.service \
	/usr/lib/softnetd/profiles/balanced.conf /usr/share/man/man8/softnetd.8; do
	grep -qxF "$what" <<<"$installed" && ok "$what" || not_ok "$what" "$installed"
done
[ "$("$root/usr/bin/softnetctl" --version | head -n 1 | cut -d' ' -f1)" = softnetctl ] &&
	ok "which runs" || not_ok "which runs" "$("$root/usr/bin/softnetctl" --version 2>&1)"

# --- the rpm's list: every file is in it, and everything in it is there; a folder stands for all in it
listed=$(sed -n '/^%files/,/^%[a-z]* *$/p' units/rpm/softnetd.spec | grep '^%{' |
	sed 's|%{_bindir}|/usr/bin|; s|%{_unitdir}|/usr/lib/systemd/system|
	     s|%{_mandir}|/usr/share/man|; s|%{_datadir}|/usr/share|; s|%{_prefix}|/usr|')
missing=$(while read -r file; do
	found=
	while read -r pattern; do
		# shellcheck disable=SC2053 # the list's wildcards are meant
		[[ $file == $pattern || $file == "$pattern"/* ]] && found=1
	done <<<"$listed"
	[ -n "$found" ] || echo "$file"
done <<<"$installed")
[ -n "$listed" ] && [ -z "$missing" ] && ok "the rpm's list has every file" ||
	not_ok "the rpm's list has every file" "not in units/rpm/softnetd.spec: $missing"
surplus=$(while read -r pattern; do
	compgen -G "$root$pattern" >/dev/null || echo "$pattern"
done <<<"$listed")
[ -z "$surplus" ] && ok "and no other" || not_ok "and no other" "not installed: $surplus"
[ "$(sed -n 's/^Version: *//p' units/rpm/softnetd.spec)" = "$(sed -n 's/^VERSION *:= //p' Makefile)" ] &&
	ok "and the version" || not_ok "and the version" "$(grep ^Version units/rpm/softnetd.spec)"
if command -v rpmspec >/dev/null; then
	said=$(rpmspec -P units/rpm/softnetd.spec 2>&1 >/dev/null) && ok "rpm can read it" ||
		not_ok "rpm can read it" "$said"
else
	skip "rpm can read it" "no rpmspec"
fi

# --- where zsh looks
rm -rf "$root"
place install >/dev/null 2>&1
if [ -e /etc/debian_version ]; then want=vendor-completions; else want=site-functions; fi
[ -e "$root/usr/share/zsh/$want/_softnetctl" ] && ok "zsh's completion" ||
	not_ok "zsh's completion" "$(find "$root" -name '_softnetctl')"

mkdir -p "$root/home/somebody"
place uninstall >/dev/null 2>&1
[ -d "$root/home/somebody" ] && ok "make uninstall leaves the empty folders of others" ||
	not_ok "make uninstall leaves the empty folders of others" "home/somebody is gone"
rmdir -p "$root/home/somebody" 2>/dev/null
left=$(find "$root" -mindepth 1 2>/dev/null)
[ -z "$left" ] && ok "make uninstall leaves nothing" || not_ok "make uninstall leaves nothing" "$left"
echo "1..$n"
