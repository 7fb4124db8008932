//! The life of a pod: its container is started, probed, restarted, and ended.

use super::probes::{self, Health};
use super::status::{self, Doing, Termination, View};
use super::{NodeOfProcesses, sandbox, volumes};
use k8s_openapi::api::core::v1::{Container, Pod};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use kube::runtime::events::EventType;
use kube::{Api, ResourceExt};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};
use tokio::sync::watch;

/// A container that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Name of its pod.
    pub pod: String,
    /// 128 and the signal's number if a signal ended it.
    pub exit_code: i32,
    /// How long after SIGTERM it ended, if its pod was deleted.
    pub after_sigterm: Option<Duration>,
    /// The grace period that it had then.
    pub grace_period: Option<Duration>,
}

/// A container that runs.
#[derive(Clone)]
pub(super) struct RunningContainer {
    bwrap: u32,
    arguments: Vec<OsString>,
}

impl RunningContainer {
    /// Sends a signal to its process. Returns false if the process has ended.
    pub(super) fn signal(&self, signal: &str) -> bool {
        let Some(process) = sandbox::inner_process(self.bwrap) else { return false };
        let sent = std::process::Command::new("kill").args(["-s", signal, &process.to_string()]).status();
        sent.is_ok_and(|status| status.success())
    }

    /// Another program in the same sandbox.
    pub(super) fn another(&self, words: &[&str]) -> Command {
        let mut command = sandbox::command(&self.arguments, words);
        command.stdin(Stdio::null());
        command
    }
}

/// Runs a pod until it is over or deleted.
pub(super) async fn run(
    node: Arc<NodeOfProcesses>,
    pod: Pod,
    deletion: watch::Receiver<Option<Duration>>,
    running: Arc<Mutex<Option<RunningContainer>>>,
) {
    let now = Timestamp::now();
    let view = View {
        doing: Doing::Waits { reason: "ContainerCreating", message: String::new() },
        last: None,
        health: Health::default(),
        restarts: 0,
        ready_since: now,
        pod_began: now,
    };
    let containers = pod.spec.as_ref().map_or(&[][..], |spec| &spec.containers);
    let [container] = containers else { panic!("{}: pods of k8s/ have one container", pod.name_any()) };
    let (address, container) = (node.next_address(), container.clone());
    let mut life = Life { node, pod, container, address, deletion, running, view, is_over: false };
    life.live().await;
    life.running.lock().unwrap().take();
}

struct Life {
    node: Arc<NodeOfProcesses>,
    pod: Pod,
    container: Container,
    address: String,
    deletion: watch::Receiver<Option<Duration>>,
    running: Arc<Mutex<Option<RunningContainer>>>,
    view: View,
    is_over: bool,
}

impl Life {
    async fn live(&mut self) {
        self.report().await;
        let Some(arguments) = self.prepare().await else { return self.leave().await };
        let restart_policy = self.pod.spec.as_ref().and_then(|spec| spec.restart_policy.clone());
        loop {
            let ended = self.run_container(&arguments).await;
            self.view.health = Health::default();
            self.view.ready_since = Timestamp::now();
            let runs_again = match restart_policy.as_deref() {
                Some("Never") => false,
                Some("OnFailure") => ended.exit_code != 0,
                _ => true,
            };
            self.is_over = !runs_again;
            self.view.doing = Doing::HasEnded(ended.clone());
            if self.deletion.borrow().is_some() {
                self.report().await;
                return self.leave().await;
            }
            if self.is_over {
                self.report().await;
                wait_until_deleted(&mut self.deletion).await;
                return self.leave().await;
            }
            // The pause of a real kubelet: none before the first restart, then 10 s, 20 s, … up to 5 min.
            let pause = match self.view.restarts {
                0 => Duration::ZERO,
                restarts => Duration::from_secs(300.min(10 << (restarts - 1).min(5))),
            };
            let message = format!("back-off {pause:?} restarting failed container={}", self.container.name);
            self.view.last = Some(ended);
            if !pause.is_zero() {
                self.publish_event(EventType::Warning, "BackOff", message.clone()).await;
            }
            self.view.doing = Doing::Waits { reason: "CrashLoopBackOff", message };
            self.report().await;
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = wait_until_deleted(&mut self.deletion) => return self.leave().await,
            }
            self.view.restarts += 1;
        }
    }

    /// The sandbox, as soon as image and volumes are there. `None` if the pod is deleted before.
    async fn prepare(&mut self) -> Option<Vec<OsString>> {
        let mut reported = String::new();
        loop {
            let error = match self.try_to_prepare().await {
                Ok(arguments) => return Some(arguments),
                Err(error) => error,
            };
            if reported != error {
                self.publish_event(EventType::Warning, "FailedMount", error.clone()).await;
                reported = error;
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(500)) => {}
                () = wait_until_deleted(&mut self.deletion) => return None,
            }
        }
    }

    async fn try_to_prepare(&self) -> Result<Vec<OsString>, String> {
        let image = self.container.image.clone().unwrap_or_default();
        let programs = self.node.images.get(&image).ok_or_else(|| format!("there is no image {image}"))?;
        let mounts = volumes::mount(&self.node, &self.pod).await?;
        sandbox::arguments(&self.pod, &self.container, &self.address, programs, &mounts)
    }

    /// Runs the container once.
    async fn run_container(&mut self, arguments: &[OsString]) -> Termination {
        let began = Timestamp::now();
        let log = self.log();
        let mut child = self.start(arguments, &log);
        *self.running.lock().unwrap() =
            Some(RunningContainer { bwrap: child.id().unwrap_or_default(), arguments: arguments.to_vec() });
        self.view.doing = Doing::Runs { since: began };
        self.report().await;
        self.publish_event(EventType::Normal, "Started", format!("Started container {}", self.container.name)).await;

        let (reported, mut health) = watch::channel(Health::default());
        let (container, address) = (self.container.clone(), self.address.clone());
        let probes = probes::watch(&container, &address, &reported);
        tokio::pin!(probes);
        let mut deletion = self.deletion.clone();
        let mut asked = None;
        let exit_code = loop {
            tokio::select! {
                exit_code = wait(&mut child) => break exit_code,
                () = wait_until_deleted(&mut deletion) => {
                    let (code, after) = self.end(&mut child).await;
                    asked = Some(after);
                    break code;
                }
                failure = &mut probes => {
                    self.publish_event(EventType::Warning, "Unhealthy", failure).await;
                    let (code, _) = self.end(&mut child).await;
                    break code;
                }
                Ok(()) = health.changed() => {
                    let health = *health.borrow_and_update();
                    if health.is_ready != self.view.health.is_ready {
                        self.view.ready_since = Timestamp::now();
                    }
                    self.view.health = health;
                    self.report().await;
                }
            }
        };
        self.running.lock().unwrap().take();
        self.node.ended.lock().unwrap().push(Ended {
            pod: self.pod.name_any(),
            exit_code,
            after_sigterm: asked,
            grace_period: asked.map(|_| self.grace_period()),
        });
        Termination { exit_code, message: self.message(exit_code, &log), began, finished: Timestamp::now() }
    }

    fn start(&self, arguments: &[OsString], log: &Path) -> Child {
        let words = self.container.command.iter().flatten().chain(self.container.args.iter().flatten());
        let log = std::fs::File::create(log).unwrap();
        let mut command = sandbox::command(arguments, words);
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        command.spawn().expect("bwrap is installed")
    }

    fn log(&self) -> PathBuf {
        std::fs::create_dir_all(&self.node.directory).unwrap();
        let name = format!("{}.{}.log", self.pod.name_any(), self.view.restarts);
        self.node.directory.join(name)
    }

    /// The end of its log, if it failed and asks for that.
    fn message(&self, exit_code: i32, log: &Path) -> String {
        if exit_code == 0 || self.container.termination_message_policy.as_deref() != Some("FallbackToLogsOnError") {
            return String::new();
        }
        let text = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(80)..].join("\n").chars().take(2048).collect()
    }

    fn grace_period(&self) -> Duration {
        let of_spec = self.pod.spec.as_ref().and_then(|spec| spec.termination_grace_period_seconds).unwrap_or(30);
        let deleted = *self.deletion.borrow();
        deleted.unwrap_or_else(|| Duration::from_secs(of_spec.try_into().unwrap_or(0)))
    }

    /// Sends SIGTERM, and SIGKILL when the grace period is over. Returns the exit code and how long it took.
    async fn end(&mut self, child: &mut Child) -> (i32, Duration) {
        self.publish_event(EventType::Normal, "Killing", format!("Stopping container {}", self.container.name)).await;
        let began = Instant::now();
        let running = self.running.lock().unwrap().clone();
        let signal = |signal| running.as_ref().is_some_and(|running| running.signal(signal));
        signal("TERM");
        let exit_code = match tokio::time::timeout(self.grace_period(), wait(child)).await {
            Ok(exit_code) => exit_code,
            Err(_) => {
                signal("KILL");
                wait(child).await
            }
        };
        (exit_code, began.elapsed())
    }

    /// Removes the deleted pod from the control plane, since nothing of it is left here.
    async fn leave(&mut self) {
        let now = DeleteParams {
            grace_period_seconds: Some(0),
            preconditions: Some(Preconditions { uid: self.pod.uid(), resource_version: None }),
            ..DeleteParams::default()
        };
        match self.api().delete(&self.pod.name_any(), &now).await {
            Ok(_) => {}
            // Somebody else has deleted it without a grace period.
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(error) => eprintln!("{}: {} cannot be taken away: {error}", self.node.name, self.pod.name_any()),
        }
    }

    fn api(&self) -> Api<Pod> {
        Api::namespaced(self.node.client.clone(), &self.pod.namespace().unwrap_or_default())
    }

    async fn report(&self) {
        let status = status::status(&self.container, &self.address, &self.view, self.is_over);
        let patched =
            self.api().patch_status(&self.pod.name_any(), &PatchParams::default(), &Patch::Merge(status)).await;
        if let Err(error) = patched {
            eprintln!("{}: the status of {} cannot be told: {error}", self.node.name, self.pod.name_any());
        }
    }

    async fn publish_event(&self, kind: EventType, reason: &str, note: String) {
        self.node.publish_event(&self.pod, kind, reason, note).await;
    }
}

/// The exit code of `bwrap` is that of its program, and 128 and the number of the signal that ended it.
async fn wait(child: &mut Child) -> i32 {
    child.wait().await.ok().and_then(|status| status.code()).unwrap_or(137)
}

async fn wait_until_deleted(deletion: &mut watch::Receiver<Option<Duration>>) {
    // The sender goes when the pod is gone from the control plane, which ends this task too.
    if deletion.wait_for(Option::is_some).await.is_err() {
        futures::future::pending::<()>().await;
    }
}
