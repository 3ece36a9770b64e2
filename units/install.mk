# SPDX-License-Identifier: GPL-2.0-or-later
# What `make install` places, and `make uninstall` takes away: one list, "source:destination:mode".

UNITDIR := $(PREFIX)/lib/systemd/system
MANDIR  := $(PREFIX)/share/man
# Where zsh looks for completions that a package brings: Debian has a place of its own.
ZSHDIR  ?= $(PREFIX)/share/zsh/$(if $(wildcard /etc/debian_version),vendor-completions,site-functions)

INSTALL_FILES := \
	$(BUILD)/softnetd:$(PREFIX)/sbin/softnetd:0755 \
	$(BUILD)/softnetctl:$(PREFIX)/bin/softnetctl:0755 \
	units/softnetd.service:$(UNITDIR)/softnetd.service:0644 \
	units/open-sockets.conf:$(PREFIX)/lib/softnetd/open-sockets.conf:0644 \
	config/softnetd.catalog:$(PREFIX)/lib/systemd/catalog/softnetd.catalog:0644 \
	config/org.softnetd1.conf:$(PREFIX)/share/dbus-1/system.d/org.softnetd1.conf:0644 \
	config/org.softnetd1.service:$(PREFIX)/share/dbus-1/system-services/org.softnetd1.service:0644 \
	config/org.softnetd1.policy:$(PREFIX)/share/polkit-1/actions/org.softnetd1.policy:0644 \
	config/completion/softnetctl:$(PREFIX)/share/bash-completion/completions/softnetctl:0644 \
	config/completion/_softnetctl:$(ZSHDIR)/_softnetctl:0644 \
	config/softnetd.conf:$(PREFIX)/lib/softnetd/softnetd.conf:0644 \
	$(foreach p,$(wildcard config/profiles/*.conf),$(p):$(PREFIX)/lib/softnetd/profiles/$(notdir $(p)):0644) \
	$(foreach m,$(wildcard man/*.[1-8]),$(m):$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m)):0644)

.PHONY: install uninstall
install: all
	@set -e; for f in $(INSTALL_FILES); do \
		IFS=: read -r from to mode <<<"$$f"; \
		install -D -m "$$mode" "$$from" "$(DESTDIR)$$to"; \
	done

uninstall:
	@set -e; for f in $(INSTALL_FILES); do \
		IFS=: read -r from to mode <<<"$$f"; \
		rm -f "$(DESTDIR)$$to"; \
	done
	@rmdir -p --ignore-fail-on-non-empty "$(DESTDIR)$(PREFIX)/lib/softnetd/profiles" 2>/dev/null || true
	@# In a staging folder the empty parents of our files go, too, and no other folder: it may be a whole system.
	@[ -z "$(DESTDIR)" ] || [ ! -d "$(DESTDIR)" ] || for f in $(INSTALL_FILES); do \
		IFS=: read -r from to mode <<<"$$f"; \
		(cd "$(DESTDIR)" && to=$${to#/} && rmdir -p --ignore-fail-on-non-empty "$${to%/*}" 2>/dev/null) || true; \
	done

install uninstall: SHELL := /bin/bash

## deb: the Debian package of this tree, read by lintian, in build/deb
.PHONY: deb
deb:
	@units/deb
