//! The limits of a process that reads a document, and the system calls that it keeps.

use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::io;

/// The most bytes of everything that a process maps, its program included.
const MAX_ADDRESS_SPACE_BYTES: u64 = 2 << 30;
const MAX_STACK_BYTES: u64 = 32 << 20;

/// Closes what the process has inherited and limits what it may use. The limits hold for the program that is executed next, whose
/// allocator begins with them.
pub(crate) fn limit() -> io::Result<()> {
    // SAFETY: the call takes numbers. Nothing of this process uses these descriptors: it has opened none yet.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    if closed != 0 {
        return Err(io::Error::last_os_error());
    }
    for (resource, most) in [
        (Resource::Data, super::MAX_MEMORY_BYTES),
        (Resource::As, MAX_ADDRESS_SPACE_BYTES),
        (Resource::Stack, MAX_STACK_BYTES),
        (Resource::Cpu, super::MAX_CPU_S),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ] {
        set(resource, most)?;
    }
    Ok(())
}

/// Gives up files, processes, and all system calls but those that a computation needs.
pub(crate) fn confine() -> io::Result<()> {
    set(Resource::Nofile, 0)?;
    set(Resource::Nproc, 0)?;
    // This sets `no_new_privs`, too.
    let filter = filter().map_err(io::Error::other)?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other)
}

fn set(resource: Resource, most: u64) -> io::Result<()> {
    // A limit that is lower already stays.
    let allowed = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX).min(most);
    Ok(setrlimit(resource, Rlimit { current: Some(allowed), maximum: Some(allowed) })?)
}

/// Calls that a computation needs, and under which conditions. Everything else fails with `EPERM`.
fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let free = [
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_sigaltstack,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];
    let is = |argument, value| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value);
    let executable = libc::PROT_EXEC as u64;
    let not_executable = || SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(executable), 0);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = free.into_iter().map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_read, vec![SeccompRule::new(vec![is(0, 0)?])?]);
    rules.insert(libc::SYS_write, vec![SeccompRule::new(vec![is(0, 1)?])?]);
    rules.insert(libc::SYS_mmap, vec![SeccompRule::new(vec![not_executable()?])?]);
    rules.insert(libc::SYS_mprotect, vec![SeccompRule::new(vec![not_executable()?])?]);
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)?.try_into()
}
