//! Volumes that any node can mount: a directory for each claim.

use futures::TryStreamExt;
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::api::PostParams;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use std::path::PathBuf;

const CLASS: &str = "directories";
/// Set by the scheduler once it has chosen a node for the pod that waits for the volume.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Makes the default storage class and gives every claim of it a directory below `root`, until it is dropped.
pub async fn provision(client: Client, root: PathBuf) -> Result<(), watcher::Error> {
    let class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": {"name": CLASS, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "recrawl.test/directories", "volumeBindingMode": "WaitForFirstConsumer",
    });
    let classes: Api<StorageClass> = Api::all(client.clone());
    classes.create(&PostParams::default(), &serde_json::from_value(class).unwrap()).await.unwrap();
    let claims: Api<PersistentVolumeClaim> = Api::all(client.clone());
    let volumes: Api<PersistentVolume> = Api::all(client);
    let claims = watcher(claims, watcher::Config::default()).default_backoff().applied_objects();
    claims
        .try_for_each(|claim| {
            let (volumes, root) = (volumes.clone(), root.clone());
            async move {
                let spec = claim.spec.clone().unwrap_or_default();
                let is_awaited = claim.annotations().contains_key(SELECTED_NODE);
                if spec.storage_class_name.as_deref() != Some(CLASS) || spec.volume_name.is_some() || !is_awaited {
                    return Ok(());
                }
                let name = format!("volume-{}", claim.uid().unwrap_or_default());
                let path = root.join(&name);
                std::fs::create_dir_all(&path).unwrap();
                let volume = json!({
                    "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
                    "spec": {
                        "storageClassName": CLASS, "accessModes": spec.access_modes, "hostPath": {"path": path},
                        "capacity": spec.resources.and_then(|resources| resources.requests),
                        "claimRef": {"namespace": claim.namespace(), "name": claim.name_any(), "uid": claim.uid()},
                    },
                });
                match volumes.create(&PostParams::default(), &serde_json::from_value(volume).unwrap()).await {
                    Err(kube::Error::Api(status)) if status.reason == "AlreadyExists" => Ok(()),
                    other => other.map(|_| ()).map_err(watcher::Error::WatchFailed),
                }
            }
        })
        .await
}
