//! The status of a pod, as a kubelet reports it.

use super::probes::Health;
use k8s_openapi::api::core::v1::{Container, Pod};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

/// How a container ended.
#[derive(Clone, Debug)]
pub(super) struct Termination {
    pub(super) exit_code: i32,
    pub(super) message: String,
    pub(super) began: Timestamp,
    pub(super) finished: Timestamp,
}

/// State of a container: waiting, running or ended.
#[derive(Clone, Debug)]
pub(super) enum Doing {
    Waits { reason: &'static str, message: String },
    Runs { since: Timestamp },
    HasEnded(Termination),
}

/// State of a pod's container, as it is reported.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) doing: Doing,
    pub(super) last: Option<Termination>,
    pub(super) health: Health,
    pub(super) restarts: u32,
    /// Since when it is ready, or is not.
    pub(super) ready_since: Timestamp,
    pub(super) pod_began: Timestamp,
}

/// Whether nothing of the pod will run again.
pub(super) fn is_over(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    matches!(phase, Some("Succeeded" | "Failed"))
}

/// The status of a pod. `is_last` when its container will not run again.
pub(super) fn status(container: &Container, address: &str, view: &View, is_last: bool) -> Value {
    let is_ready = view.health.is_ready;
    let phase = match &view.doing {
        Doing::HasEnded(ended) if is_last && ended.exit_code == 0 => "Succeeded",
        Doing::HasEnded(_) if is_last => "Failed",
        Doing::Waits { .. } if view.restarts == 0 && view.last.is_none() => "Pending",
        _ => "Running",
    };
    let condition = |kind: &str, holds: bool, since: Timestamp| json!({"type": kind, "status": if holds { "True" } else { "False" }, "lastTransitionTime": since.to_string()});
    json!({"status": {
        "phase": phase, "hostIP": "127.0.0.1", "podIP": address, "podIPs": [{"ip": address}],
        "startTime": view.pod_began.to_string(),
        "conditions": [
            condition("PodScheduled", true, view.pod_began),
            condition("Initialized", true, view.pod_began),
            condition("ContainersReady", is_ready, view.ready_since),
            condition("Ready", is_ready, view.ready_since),
        ],
        "containerStatuses": [{
            "name": container.name, "image": container.image, "imageID": container.image,
            "ready": is_ready, "started": view.health.is_started, "restartCount": view.restarts,
            "state": state(&view.doing), "lastState": view.last.as_ref().map_or(json!({}), terminated),
        }],
    }})
}

fn state(doing: &Doing) -> Value {
    match doing {
        // Null takes away what an earlier patch said.
        Doing::Waits { reason, message } => {
            json!({"waiting": {"reason": reason, "message": message}, "running": null, "terminated": null})
        }
        Doing::Runs { since } => {
            json!({"running": {"startedAt": since.to_string()}, "waiting": null, "terminated": null})
        }
        Doing::HasEnded(ended) => {
            let mut state = terminated(ended);
            state["waiting"] = Value::Null;
            state["running"] = Value::Null;
            state
        }
    }
}

fn terminated(ended: &Termination) -> Value {
    json!({"terminated": {
        "exitCode": ended.exit_code, "reason": if ended.exit_code == 0 { "Completed" } else { "Error" },
        "message": ended.message, "startedAt": ended.began.to_string(), "finishedAt": ended.finished.to_string(),
    }})
}
