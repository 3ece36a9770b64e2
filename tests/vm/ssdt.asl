// SPDX-License-Identifier: GPL-2.0-or-later
//
// P-states and C-states for the four CPUs of a QEMU q35 guest, so that the
// kernel's own acpi-cpufreq and acpi_idle drivers have something to work on:
// two policies of two CPUs with 2.0, 1.5 and 1.0 GHz, idle states POLL and C1.
// The P-state registers are the scratch registers of two serial ports that
// are otherwise unused (2FFh and 3EFh), plain bytes to read and to write.
DefinitionBlock ("ssdt.aml", "SSDT", 2, "SNET", "PSTATES", 1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    External (\_SB.CPUS.C001, DeviceObj)
    External (\_SB.CPUS.C002, DeviceObj)
    External (\_SB.CPUS.C003, DeviceObj)
    Name (\PSSX, Package () {
        Package (6) { 2000, 2000, 10, 10, 0x10, 0x10 },
        Package (6) { 1500, 1500, 10, 10, 0x11, 0x11 },
        Package (6) { 1000, 1000, 10, 10, 0x12, 0x12 } })
    Scope (\_SB.CPUS.C000) {
        Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) } })
        Method (_PSS) { Return (\PSSX) }  Name (_PPC, 0)
        Name (_CST, Package () { 1, Package (4) { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 1, 1000 } })
        Name (_PSD, Package () { Package (5) { 5, 0, 0, 0xFC, 2 } })
    }
    Scope (\_SB.CPUS.C001) {
        Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) } })
        Method (_PSS) { Return (\PSSX) }  Name (_PPC, 0)
        Name (_CST, Package () { 1, Package (4) { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 1, 1000 } })
        Name (_PSD, Package () { Package (5) { 5, 0, 0, 0xFC, 2 } })
    }
    Scope (\_SB.CPUS.C002) {
        Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x3EF) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0x3EF) } })
        Method (_PSS) { Return (\PSSX) }  Name (_PPC, 0)
        Name (_CST, Package () { 1, Package (4) { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 1, 1000 } })
        Name (_PSD, Package () { Package (5) { 5, 0, 1, 0xFC, 2 } })
    }
    Scope (\_SB.CPUS.C003) {
        Name (_PCT, Package () { ResourceTemplate () { Register (SystemIO, 8, 0, 0x3EF) }, ResourceTemplate () { Register (SystemIO, 8, 0, 0x3EF) } })
        Method (_PSS) { Return (\PSSX) }  Name (_PPC, 0)
        Name (_CST, Package () { 1, Package (4) { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 1, 1000 } })
        Name (_PSD, Package () { Package (5) { 5, 0, 1, 0xFC, 2 } })
    }
}
