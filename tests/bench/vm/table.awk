# SPDX-License-Identifier: GPL-2.0-or-later
#
# Lines "D LABEL METRIC VALUE", separated by tabs, as the guests' scripts print them, and "T TITLE",
# where the next table begins: a table of
# medians over the rounds, their spread, and the ratio to the first label. The A/A row is the label
# that begins like the first one and ends in "again". A ratio has a * when none of a label's rounds
# lies within what the first label and its A/A row span, in the same run: only those are differences.

BEGIN { FS = "\t" }
$1 == "T" {
	table()
	title = $2
	split("", n)
	split("", seen)
	split("", known)
	split("", values)
	nl = nm = 0
}
$1 == "D" {
	if (!(($2, $3) in n) && !($2 in seen)) {
		seen[$2] = 1
		labels[++nl] = $2
	}
	if (!($3 in known)) {
		known[$3] = 1
		metrics[++nm] = $3
	}
	values[$2, $3, ++n[$2, $3]] = $4 + 0
}

function sort_values(l, m,	i, j, t)
{
	for (i = 2; i <= n[l, m]; i++) {
		t = values[l, m, i]
		for (j = i - 1; j >= 1 && values[l, m, j] > t; j--)
			values[l, m, j + 1] = values[l, m, j]
		values[l, m, j + 1] = t
	}
}

function median(l, m,	k)
{
	k = n[l, m]
	return k % 2 ? values[l, m, (k + 1) / 2] : (values[l, m, k / 2] + values[l, m, k / 2 + 1]) / 2
}

function low(l, m) { return values[l, m, 1] }
function high(l, m) { return values[l, m, n[l, m]] }

function number(x)
{
	if (x == int(x) || x >= 10000 || x <= -10000) return sprintf("%.0f", x)
	if (x >= 10 || x <= -10) return sprintf("%.1f", x)
	return sprintf("%.3g", x)
}

function ratio(l, m,	first, lo, hi, r)
{
	first = labels[1]
	if (l == first || !n[first, m] || median(first, m) == 0) return "-"
	lo = low(first, m)
	hi = high(first, m)
	if (aa != "" && n[aa, m]) {
		if (low(aa, m) < lo) lo = low(aa, m)
		if (high(aa, m) > hi) hi = high(aa, m)
	}
	r = median(l, m) / median(first, m)
	return sprintf(r > .95 && r < 1.05 ? "%.4f%s" : "%.2f%s", r,
		l != aa && n[l, m] > 2 && n[first, m] > 2 && (low(l, m) > hi || high(l, m) < lo) ? "*" : "")
}

function cells(l, what,	i, m, c)
{
	for (i = 1; i <= nm; i++) {
		m = metrics[i]
		if (!n[l, m]) c = "-"
		else if (what == "median") c = number(median(l, m))
		else if (what == "least") c = number(low(l, m))
		else if (what == "most") c = number(high(l, m))
		else c = ratio(l, m)
		printf " %10s", c
	}
	printf "\n"
}

function table(	i, j, l, width, format)
{
	if (title != "") print title
	if (!nl) {
		if (title != "") print "(no results)"
		return
	}
	width = 8
	aa = ""
	for (i = 1; i <= nl; i++) {
		if (length(labels[i]) > width) width = length(labels[i])
		if (i > 1 && labels[i] ~ /again$/ && index(labels[i], labels[1]) == 1) aa = labels[i]
	}
	format = "%-" width "s %-6s"
	printf format, "", ""
	for (i = 1; i <= nm; i++) printf " %10s", metrics[i]
	printf "\n"
	for (i = 1; i <= nl; i++) {
		l = labels[i]
		for (j = 1; j <= nm; j++) sort_values(l, metrics[j])
	}
	for (i = 1; i <= nl; i++) {
		l = labels[i]
		printf format, l, "median"; cells(l, "median")
		printf format, "", "least"; cells(l, "least")
		printf format, "", "most"; cells(l, "most")
		if (i > 1) { printf format, "", "ratio"; cells(l, "ratio") }
	}
	print ""
}

END { table() }
