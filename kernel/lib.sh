# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the scripts in here share: the table of versions, sources as Debian
# packages, applying a series without ever leaving a tree half patched, and
# configurations. Sourced, not run.

KDIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(dirname "$KDIR")
CACHE=${SOFTNETD_CACHE:-/var/cache/softnetd}
export TOP KDIR CACHE

say() { printf '%s\n' "$*" >&2; }
die() { printf '%s: error: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# stage NAME COMMAND...: run it, say how long it took. Not behind || or in a
# condition: there bash would go on after a command in it that failed.
stage()
{
	local name=$1 start=$SECONDS
	shift
	"$@"
	say "## $name: $((SECONDS - start)) s"
}

# What the build must not depend on: time, user, language of the machine.
export KBUILD_BUILD_TIMESTAMP='Mon Nov 30 2026' KBUILD_BUILD_USER=softnetd
export KBUILD_BUILD_HOST=softnetd LC_ALL=C
# The object trees of the unpatched and the patched kernel are one; ccache makes
# going from one to the other, and a lost tree, cheap. By PATH, so that the
# commands that make compares stay the same with and without it.
if [[ -x /usr/lib/ccache/gcc ]]; then
	export PATH=/usr/lib/ccache:$PATH CCACHE_DIR=$CACHE/ccache-direct CCACHE_MAXSIZE=4G
	# Not with CCACHE_DEPEND: it does not preprocess, so it does not see that
	# piggy.S takes in the kernel by .incbin, and gives back the old kernel when
	# the compressed new one has as many bytes.
	export CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros
fi
KMAKE=(nice -n 10 make "-j${JOBS:-$(nproc)}")

# need_packages LIST...: install what is missing of the lists, naming it first
need_packages()
{
	local p missing=()
	while read -r p; do
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) == installed ]] ||
			missing+=("$p")
	done < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@" | sort -u)
	((${#missing[@]})) || return 0
	say "missing packages: ${missing[*]}"
	((EUID == 0)) ||
		die "not root: install them with apt-get install ${missing[*]}"
	apt-get -qq update >&2 || say "apt-get update failed, going on with the old lists"
	DEBIAN_FRONTEND=noninteractive apt-get -qq install -y \
		--no-install-recommends "${missing[@]}" >/dev/null ||
		die "could not install ${missing[*]}"
}

# all_versions [ROLE]: the kernel versions of the table, e.g. "6.12 7.3"
all_versions()
{
	awk -v role="${1:-}" '!/^#/ && NF == 5 && (!role || $5 == role) {
		sub(/^linux-source-/, "", $2); print $2 }' "$KDIR/versions"
}

# select_version NAME: sets SERIES PACKAGE VERSION SUITE ROLE KVER PATCHES
select_version()
{
	local s p v u r
	while read -r s p v u r; do
		[[ $s == \#* || -z $r ]] && continue
		if [[ $1 == "${p#linux-source-}" || $1 == "$v" || $1 == "$s" ]]; then
			SERIES=$s PACKAGE=$p VERSION=$v SUITE=$u ROLE=$r
			KVER=${p#linux-source-}
			PATCHES=$KDIR/patches/$s
			export SERIES PACKAGE VERSION SUITE ROLE KVER PATCHES
			return 0
		fi
	done <"$KDIR/versions"
	die "unknown version '$1'; known are: $(all_versions | tr '\n' ' ')"
}

# apt options that use SUITE alone, of the archive that this machine uses
# already. /etc/apt is not touched, so nothing can be upgraded by accident.
suite_options()
{
	local suite=$1 dir=$CACHE/suites uri key
	[[ $suite != - ]] || return 0
	# shellcheck disable=SC1091
	. /etc/os-release
	# shellcheck disable=SC2016
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		'Label: Debian' "Codename: $VERSION_CODENAME" 'Component: main' |
		sort -u | head -n 1)
	[[ -n $uri ]] || die "no Debian archive among the apt sources of this machine"
	key=/usr/share/keyrings/debian-archive-keyring.gpg
	mkdir -p "$dir/$suite/lists/partial"
	{
		printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' \
			"$uri" "$suite"
		[[ ! -r $key ]] || printf 'Signed-By: %s\n' "$key"
	} >"$dir/$suite.sources"
	printf '%s\n' -o "Dir::Etc::sourcelist=$dir/$suite.sources" \
		-o Dir::Etc::sourceparts=- \
		-o "Dir::State::Lists=$dir/$suite/lists" \
		-o APT::Get::List-Cleanup=0
}

# source_package: sets DEB to the package of the selected version, and VERSION
# to another one if the archive no longer has the one of the table
source_package()
{
	local dir=$CACHE/packages opts=() found newest
	mkdir -p "$dir"
	DEB=$dir/${PACKAGE}_${VERSION//:/%3a}_all.deb
	[[ -f $DEB ]] && return 0

	mapfile -t opts < <(suite_options "$SUITE")
	[[ $SUITE == - ]] || apt-get "${opts[@]}" -qq update >&2 ||
		die "cannot read the package lists of $SUITE"
	if ! (cd "$dir" && apt-get "${opts[@]}" -qq download \
		"$PACKAGE=$VERSION") 2>/dev/null; then
		apt-get -qq update >&2 || true
		newest=$(apt-cache "${opts[@]}" show "$PACKAGE" 2>/dev/null |
			awk '/^Version:/ { print $2; exit }')
		[[ -n $newest ]] || die "$PACKAGE: not in the archive ($SUITE)"
		say "$PACKAGE $VERSION has left the archive, taking $newest"
		VERSION=$newest
		DEB=$dir/${PACKAGE}_${VERSION//:/%3a}_all.deb
		[[ -f $DEB ]] && return 0
		(cd "$dir" && apt-get "${opts[@]}" -qq download \
			"$PACKAGE=$VERSION") 2>/dev/null ||
			die "$PACKAGE $VERSION: cannot be downloaded"
	fi
	found=$(compgen -G "$dir/${PACKAGE}_*_all.deb" | grep -F "$VERSION" | head -n 1) || true
	[[ -f $DEB ]] || { [[ -n $found ]] && mv "$found" "$DEB"; } ||
		die "$PACKAGE $VERSION: downloaded, but not found in $dir"
}

# A source tree is unpacked, patched and looked at whole by one at a time. (To
# compile from it takes long, and has a lock of its own.)
tree_lock()
{
	mkdir -p "$CACHE/src"
	exec 8>"$CACHE/src/.tree-$KVER"
	flock 8
}
tree_unlock() { exec 8>&-; }

# source_tree: sets SRC to the unpacked source. Its path and the time stamps
# of its files stay, so that object files made from it stay valid.
source_tree()
{
	local free
	source_package
	SRC=$CACHE/src/linux-${VERSION//[^0-9A-Za-z.+-]/_}
	ORIG=$SRC.orig
	tree_lock
	if [[ -f $SRC.complete ]]; then
		tree_unlock
		return 0
	fi
	free=$(df --output=avail -BM "$CACHE/src" | tail -n 1 | tr -dc 0-9)
	((free > 3000)) || die "$CACHE: $free MB free, a source tree needs 2000"
	say "unpacking $PACKAGE $VERSION"
	rm -rf "$SRC" "$ORIG" "$SRC".{touched,applied}
	mkdir "$SRC"
	dpkg-deb --fsys-tarfile "$DEB" |
		tar -xO "./usr/src/$PACKAGE.tar.xz" | xz -dc -T0 |
		tar -x -C "$SRC" --strip-components=1 ||
		die "$DEB: cannot be unpacked; remove it to have it fetched anew"
	touch "$SRC.complete"
	tree_unlock
}

# series_files [N]: the patches of the selected series, or its first N
series_files()
{
	local f
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$PATCHES/series" |
		head -n "${1:-1000}" | while read -r f; do
		[[ -f $PATCHES/$f ]] || die "$PATCHES/series names $f, which is not there"
		printf '%s\n' "$PATCHES/$f"
	done
}

# files touched by patches: all, or those that exist already
touched_by() { sed -n -e 's,^+++ b/,,p' -e 's,^--- a/,,p' "$@" /dev/null | sort -u; }

# patched_files DIR PATCH...: DIR gets the touched files with the patches
# applied; says which hunk failed and returns 1 if they do not apply
patched_files()
{
	local dir=$1 p out
	shift
	for p; do
		if ! out=$(patch -p1 -f -N --fuzz=0 --no-backup-if-mismatch -d "$dir" <"$p" 2>&1); then
			say "$PACKAGE $VERSION: ${p#"$TOP"/} does not apply:"
			printf '%s\n' "$out" | grep -E 'FAILED|patching|exist|No file' >&2 || true
			find "$dir" -name '*.rej' -exec cat {} + >&2
			return 1
		fi
	done
}

# apply_series [N | none]: bring SRC to the state of the series, its first N
# patches, or the package; the patch $extra, if it is set, goes on top. Done in
# a copy of the touched files; only what differs is then written to the tree,
# so that a series that does not apply leaves the tree as it was, and make
# compiles only what depends on a change.
apply_series()
{
	local n=${1:-} list=() f work new wrote=0
	if [[ $n != none ]]; then
		mapfile -t list < <(series_files "$n")
		((${#list[@]})) || die "$PATCHES: no patches"
	fi
	[[ -z ${extra:-} ]] || list+=("$extra")
	tree_lock
	{ cat "$SRC.touched" 2>/dev/null || true; touched_by "${list[@]}"; } |
		sort -u >"$SRC.touched.new"
	while read -r f; do
		grep -qxF "$f" "$SRC.touched" 2>/dev/null && continue
		[[ -f $SRC/$f ]] || continue
		mkdir -p "$ORIG/$(dirname "$f")"
		cp -p "$SRC/$f" "$ORIG/$f"
	done <"$SRC.touched.new"
	mkdir -p "$ORIG"
	mv "$SRC.touched.new" "$SRC.touched"

	work=$(mktemp -d)
	cp -a "$ORIG/." "$work"
	if ! patched_files "$work" "${list[@]}"; then
		rm -rf "$work"
		die "the series ${SERIES} does not apply to $PACKAGE $VERSION; $SRC is unchanged"
	fi
	# All of it is on the disk before any of it takes its place.
	new=$SRC.new
	rm -rf "$new"
	mkdir "$new"
	while read -r f; do
		[[ -f $work/$f ]] && ! cmp -s "$work/$f" "$SRC/$f" || continue
		mkdir -p "$new/$(dirname "$f")"
		cp "$work/$f" "$new/$f" || {
			rm -rf "$work" "$new"
			die "$new/$f cannot be written; $SRC is unchanged"
		}
	done <"$SRC.touched"
	rm -f "$SRC.applied"
	while read -r f; do
		if [[ ! -f $work/$f ]]; then
			rm -f "${SRC:?}/$f"
		elif [[ -f $new/$f ]]; then
			mkdir -p "$SRC/$(dirname "$f")"
			mv "$new/$f" "$SRC/$f"
			wrote=$((wrote + 1))
		fi
	done <"$SRC.touched"
	rm -rf "$work" "$new"
	cat "${list[@]}" /dev/null | sha256sum | cut -c 1-16 >"$SRC.applied"
	tree_unlock
	say "$PACKAGE $VERSION: ${#list[@]} patches, $wrote files written"
}

# config_fragments FLAVOUR: test, debug, kcsan or rt
config_fragments()
{
	local f
	for f in "$KDIR"/config/[0-9]*.config; do printf '%s\n' "$f"; done
	[[ $1 == test ]] || printf '%s\n' "$KDIR/config/$1.config"
}

# configure O FLAVOUR: tinyconfig and the fragments; an option that is asked
# for and does not come out is an error unless config/absent lists it
configure()
{
	local o=$1 flavour=$2 frags=() stamp
	mapfile -t frags < <(config_fragments "$flavour")
	stamp=$(cat "${frags[@]}" "$SRC.applied" | sha256sum)
	[[ -f $o/.config && $(cat "$o/.softnetd-config" 2>/dev/null) == "$stamp" ]] &&
		return 0
	mkdir -p "$o"
	rm -f "$o/.softnetd-config"
	make -s -C "$SRC" O="$o" tinyconfig >"$o/config.log" 2>&1 ||
		die "tinyconfig failed, see $o/config.log"
	(cd "$SRC" && scripts/kconfig/merge_config.sh -m -O "$o" "$o/.config" \
		"${frags[@]}") >>"$o/config.log" 2>&1 ||
		die "merge_config.sh failed, see $o/config.log"
	make -s -C "$SRC" O="$o" olddefconfig >>"$o/config.log" 2>&1 ||
		die "olddefconfig failed, see $o/config.log"
	check_config "$o/.config" "${frags[@]}"
	printf '%s\n' "$stamp" >"$o/.softnetd-config"
}

# check_config .config FRAGMENT...: the last mention of an option counts; the
# variable patches is set when only a part of the series is applied
check_config()
{
	local config=$1 bad
	shift
	bad=$(awk -v kver="$KVER" -v part="${patches:-}" '
		FILENAME == ARGV[1] {
			if (!/^#/ && NF == 2) absent[$2] = absent[$2] " " $1
			next
		}
		FILENAME == ARGV[2] {
			if (/^CONFIG_/) { i = index($0, "="); have[substr($0, 1, i - 1)] = substr($0, i + 1) }
			next
		}
		/^CONFIG_/ { i = index($0, "="); want[substr($0, 1, i - 1)] = substr($0, i + 1) }
		/^# CONFIG_.* is not set/ { want[$2] = "n" }
		END {
			for (k in want) {
				h = (k in have) ? have[k] : "n"
				if (h == want[k]) continue
				a = absent[k] " "
				if (index(a, " " kver " ") || index(a, " * ")) continue
				if (part && index(a, " part ")) continue
				print k " wanted " want[k] ", is " h
			}
		}' "$KDIR/config/absent" "$config" "$@")
	[[ -z $bad ]] || die "$config: options that did not take:"$'\n'"$bad"
}

# vmlinux and modules of the tree at O
compile()
{
	local o=$1
	shift
	"${KMAKE[@]}" -C "$SRC" O="$o" "$@" >"$o/build.log" 2>&1 || {
		grep -E 'error|Error|\*\*\*' "$o/build.log" | head -n 20 >&2
		die "the build failed, see $o/build.log"
	}
	! grep -E '(kernel/softirq|tick-sched|fs/proc/softirqs|net/core|net/socket|eventpoll|napi|xsk|busy_poll).*warning:' \
		"$o/build.log" >&2 || die "warnings in files of the series"
}
