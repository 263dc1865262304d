//! The system calls that an engine in a strict sandbox does without (seccomp(2)).
//!
//! Namespaces keep it from the network and from other processes, but not from a socket that lies in a directory: where the
//! manager is not root, the engine is its user, and the socket of `renmei admin` would take its orders. Nor do they keep it
//! from sockets of kinds that have no namespace, and from parts of the kernel that no engine needs and that have been ways
//! out of namespaces before. Nor do they bound memory that no process has mapped: what its guardian could not count is
//! refused here. Such a call fails with EPERM, as if the right to it were missing.

use super::SandboxError;
use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};
use std::{collections::BTreeMap, env::consts::ARCH};

/// The one kind of sockets that is left, which many programs ask for the names of network devices. Pairs of connected
/// sockets are another call, and are there.
const FAMILY: i32 = libc::AF_NETLINK;

/// Sizes of what may wait in a socket: as they are, so that a socket holds no more than it is counted for.
const SIZES: [i32; 2] = [libc::SO_SNDBUF, libc::SO_RCVBUF];

/// Calls that no engine needs: other processes' memory, namespaces and mounts, keys, modules, what watches the kernel,
/// and memory that belongs to no process. Sessions share the processor evenly (sched(7), autogroup): an engine stays one. A ring of io_uring would make the other calls unseen.
const CALLS: [libc::c_long; 50] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_syslog,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_vmsplice,
    libc::SYS_seccomp,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_fanotify_init,
    libc::SYS_setsid,
];

/// The filter as `bwrap --seccomp` reads it.
///
/// # Errors
/// When there is none for this processor.
pub(super) fn bytes() -> Result<Vec<u8>, SandboxError> {
    let program = program().map_err(|why| SandboxError::Filter(why.into()))?;
    let encoded = program.iter().flat_map(|&sock_filter { code, jt, jf, k }| {
        let ([a, b], [c, d, e, f]) = (code.to_ne_bytes(), k.to_ne_bytes());
        [a, b, jt, jf, c, d, e, f]
    });
    Ok(encoded.collect())
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = CALLS.into_iter().map(|call| (call, vec![])).collect();
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![argument(0, SeccompCmpOp::Ne, FAMILY)?])?]);
    // Memory that processes share without a file stays when they have unmapped it; no size of theirs has it then.
    let shared = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    let is_shared = SeccompCmpOp::MaskedEq(u64::from(shared.unsigned_abs()));
    rules.insert(libc::SYS_mmap, vec![SeccompRule::new(vec![argument(3, is_shared, shared)?])?]);
    let filters = argument(0, SeccompCmpOp::Eq, libc::PR_SET_SECCOMP)?;
    rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![filters])?]);
    let size_of = |option| {
        let level = argument(1, SeccompCmpOp::Eq, libc::SOL_SOCKET)?;
        SeccompRule::new(vec![level, argument(2, SeccompCmpOp::Eq, option)?])
    };
    rules.insert(libc::SYS_setsockopt, SIZES.into_iter().map(size_of).collect::<Result<_, _>>()?);
    let denied = libc::EPERM.unsigned_abs();
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(denied), ARCH.try_into()?)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(other_numbers(denied).into_iter().chain(program).collect())
}

/// A condition on one of the arguments of a call.
fn argument(number: u8, is: SeccompCmpOp, value: i32) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(number, SeccompCmpArgLen::Dword, is, u64::from(value.unsigned_abs()))
}

/// On x86-64 the kernel may know each call under a second number, with bit 30 set; no number of a call has it otherwise.
fn other_numbers(denied: u32) -> [sock_filter; 3] {
    let instruction = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    [
        instruction((libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, 0, 0),
        instruction((libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16, 1, 1 << 30),
        instruction((libc::BPF_RET | libc::BPF_K) as u16, 0, libc::SECCOMP_RET_ERRNO | denied),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_whole_instructions_that_the_kernel_takes() {
        let bytes = bytes().unwrap();
        assert!(bytes.len().is_multiple_of(8) && bytes.len() / 8 < 4096, "{}", bytes.len());
    }
}
