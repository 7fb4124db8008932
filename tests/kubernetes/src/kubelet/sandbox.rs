//! A container: a program that sees its image's programs, its volumes, and nothing else that it could write to.

use super::volumes::Mount;
use crate::attended;
use k8s_openapi::api::core::v1::{Container, Pod};
use kube::ResourceExt;
use std::ffi::OsString;
use std::path::Path;
use tokio::process::Command;

/// Arguments of `bwrap` up to the command to run.
pub(super) fn arguments(
    pod: &Pod,
    container: &Container,
    address: &str,
    programs: &Path,
    mounts: &[Mount],
) -> Result<Vec<OsString>, String> {
    let spec = pod.spec.as_ref().ok_or("it has no spec")?;
    let security = spec.security_context.as_ref();
    let user = security.and_then(|context| context.run_as_user).ok_or("it does not say which user it runs as")?;
    let group = security.and_then(|context| context.run_as_group).unwrap_or(user);
    let mut arguments: Vec<OsString> = Vec::new();
    let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
    // Without a network of its own, see the crate. As process 1, it gets the signals itself, as in a container.
    add(&["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--as-pid-1"]);
    add(&["--die-with-parent", "--new-session", "--hostname", &pod.name_any()]);
    add(&["--uid", &user.to_string(), "--gid", &group.to_string()]);
    for directory in ["/usr", "/etc/ssl"] {
        add(&["--ro-bind", directory, directory]);
    }
    for link in ["bin", "lib", "lib64", "sbin"] {
        add(&["--symlink", &format!("usr/{link}"), &format!("/{link}")]);
    }
    add(&["--ro-bind", &programs.display().to_string(), "/usr/local/bin", "--proc", "/proc", "--dev", "/dev"]);
    for mount in mounts {
        let kind = if mount.is_read_only { "--ro-bind" } else { "--bind" };
        add(&[kind, &mount.source.display().to_string(), &mount.path]);
    }
    let is_root_read_only =
        container.security_context.as_ref().is_some_and(|context| context.read_only_root_filesystem == Some(true));
    if is_root_read_only {
        add(&["--remount-ro", "/"]);
    }
    add(&["--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin"]);
    add(&["--setenv", "RECRAWL_HTTP_BIND", &format!("{address}:9464")]);
    for variable in container.env.iter().flatten() {
        let field = variable.value_from.as_ref().and_then(|from| from.field_ref.as_ref());
        let value = match (&variable.value, field.map(|field| field.field_path.as_str())) {
            (value, None) if variable.value_from.is_none() => value.clone().unwrap_or_default(),
            (_, Some("metadata.name")) => pod.name_any(),
            (_, Some("metadata.namespace")) => pod.namespace().unwrap_or_default(),
            (_, Some("status.podIP")) => address.to_owned(),
            (_, field) => {
                return Err(format!("the variable {} is from {field:?}, which is not supported", variable.name));
            }
        };
        add(&["--setenv", &variable.name, &value]);
    }
    add(&["--"]);
    Ok(arguments)
}

/// The process of a container, or of another program in its sandbox.
pub(super) fn command(arguments: &[OsString], words: impl IntoIterator<Item = impl Into<OsString>>) -> Command {
    let mut command = attended("bwrap");
    command.args(arguments).args(words.into_iter().map(Into::into));
    command
}

/// The process in the sandbox of this `bwrap`.
pub(super) fn inner_process(bwrap: u32) -> Option<u32> {
    let children = std::fs::read_to_string(format!("/proc/{bwrap}/task/{bwrap}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}
