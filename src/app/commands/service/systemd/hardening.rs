//! What a service may not do. Every rule is one that engines tolerate; rules that some do not are named with the reason.

/// Places that a service with a `/home`, a root's home and a `/tmp` of its own does not see.
pub const HIDDEN: [&str; 5] = ["/home", "/root", "/run/user", "/tmp", "/var/tmp"];
/// Those of them that are temporary.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Limits of resources, for the manager and all its engines together.
pub const LIMITS: &str = "\
# An engine killed by the kernel for its memory loses a game; the service continues, and so does the machine.
MemoryMax=90%
OOMPolicy=continue
TasksMax=16384
# A control group for each engine with `sandbox = \"strict\"`: the kernel counts its memory and its processes.
Delegate=memory pids
LimitNOFILE=65536
# A core file would contain passwords and trips.
LimitCORE=0
UMask=0077
";

const RULES: &str = "\
NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectKernelTunables=yes
ProtectHostname=yes
RestrictSUIDSGID=yes
RestrictRealtime=yes
KeyringMode=private
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
# A list of what is forbidden: engines come from many compilers and runtimes.
SystemCallFilter=~@clock @cpu-emulation @debug @module @obsolete @raw-io @reboot @swap
SystemCallErrorNumber=EPERM
# Left out because engines fail by it: PrivateDevices, DevicePolicy and ProtectClock (GPUs), MemoryDenyWriteExecute (CUDA
# and other compilers at run time), RestrictNamespaces and ProtectControlGroups (`sandbox = \"strict\"`),
# SystemCallArchitectures and LockPersonality (32-bit and Windows engines), PrivateNetwork (the host's own port, engines
# behind ssh). For bubblewrap, which mounts a /proc, delete ProtectKernelLogs and ProtectKernelTunables as well.
";

/// The rules for a service with these `paths`, which writes only to `writes` (words of a unit).
pub fn text(writes: &[String], paths: &[&str]) -> String {
    let below = |places: &[&str]| paths.iter().any(|path| places.iter().any(|place| path.starts_with(place)));
    let mut text =
        "# The whole file system is read-only but for these directories; add those that engines write to.\n\
                    ProtectSystem=strict\n"
            .to_owned();
    if !writes.is_empty() {
        text += &format!("ReadWritePaths={}\n", writes.join(" "));
    }
    text += match below(&HIDDEN[..3]) {
        // Hidden, the service would not find its own files.
        true => "ProtectHome=read-only\n",
        false => "ProtectHome=yes\n",
    };
    text += match below(&TEMPORARY) {
        true => "# PrivateTmp is left out: something of this service lies in a temporary directory.\n",
        false => "PrivateTmp=yes\n",
    };
    text + RULES
}
