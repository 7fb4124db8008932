//! The directories behind a pod's volumes.

use super::NodeOfProcesses;
use k8s_openapi::api::core::v1::{ConfigMap, KeyToPath, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Volume};
use kube::{Api, ResourceExt};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A directory that a container sees at a path of its own.
#[derive(Clone, Debug)]
pub(super) struct Mount {
    pub(super) source: PathBuf,
    pub(super) path: String,
    pub(super) is_read_only: bool,
}

type Files = BTreeMap<String, Vec<u8>>;

/// Makes the volumes of a pod ready. Says what is missing.
pub(super) async fn mount(node: &NodeOfProcesses, pod: &Pod) -> Result<Vec<Mount>, String> {
    let spec = pod.spec.as_ref().ok_or("it has no spec")?;
    let home = node.directory.join(pod.uid().unwrap_or_default());
    let mut sources = BTreeMap::new();
    for volume in spec.volumes.iter().flatten() {
        let source = source(node, pod, volume, &home.join(&volume.name)).await;
        sources.insert(volume.name.clone(), source.map_err(|error| format!("volume {}: {error}", volume.name))?);
    }
    let mounts = spec.containers[0].volume_mounts.iter().flatten().map(|mount| {
        if mount.sub_path.is_some() {
            return Err(format!("volume {}: subPath is not supported", mount.name));
        }
        Ok(Mount {
            source: sources.get(&mount.name).ok_or_else(|| format!("there is no volume {}", mount.name))?.clone(),
            path: mount.mount_path.clone(),
            is_read_only: mount.read_only == Some(true),
        })
    });
    mounts.collect()
}

async fn source(node: &NodeOfProcesses, pod: &Pod, volume: &Volume, home: &Path) -> Result<PathBuf, String> {
    let namespace = pod.namespace().unwrap_or_default();
    if let Some(claim) = &volume.persistent_volume_claim {
        return claimed(node, &namespace, &claim.claim_name).await;
    }
    let files = if let Some(map) = &volume.config_map {
        config_map(node, &namespace, &map.name, map.items.as_deref(), map.optional).await?
    } else if let Some(secret_) = &volume.secret {
        let name = secret_.secret_name.as_deref().unwrap_or_default();
        secret(node, &namespace, name, secret_.items.as_deref(), secret_.optional).await?
    } else if let Some(projected) = &volume.projected {
        let mut files = Files::new();
        for source in projected.sources.iter().flatten() {
            files.extend(if let Some(map) = &source.config_map {
                config_map(node, &namespace, &map.name, map.items.as_deref(), map.optional).await?
            } else if let Some(of) = &source.secret {
                secret(node, &namespace, &of.name, of.items.as_deref(), of.optional).await?
            } else {
                return Err("this kind of projection is not supported".to_owned());
            });
        }
        files
    } else if volume.empty_dir.is_some() {
        Files::new()
    } else {
        return Err("this kind of volume is not supported".to_owned());
    };
    std::fs::create_dir_all(home).map_err(|error| error.to_string())?;
    for (name, content) in files {
        std::fs::write(home.join(name), content).map_err(|error| error.to_string())?;
    }
    Ok(home.to_owned())
}

async fn claimed(node: &NodeOfProcesses, namespace: &str, name: &str) -> Result<PathBuf, String> {
    let claims: Api<PersistentVolumeClaim> = Api::namespaced(node.client.clone(), namespace);
    let claim = claims.get(name).await.map_err(|error| error.to_string())?;
    let is_bound = claim.status.and_then(|status| status.phase).as_deref() == Some("Bound");
    let volume = claim.spec.and_then(|spec| spec.volume_name).filter(|_| is_bound);
    let volume = volume.ok_or_else(|| format!("the claim {name} is not bound"))?;
    let volumes: Api<PersistentVolume> = Api::all(node.client.clone());
    let volume = volumes.get(&volume).await.map_err(|error| error.to_string())?;
    let path = volume.spec.and_then(|spec| spec.host_path).map(|source| source.path.into());
    path.ok_or_else(|| format!("the volume of the claim {name} has no hostPath"))
}

async fn config_map(
    node: &NodeOfProcesses,
    namespace: &str,
    name: &str,
    items: Option<&[KeyToPath]>,
    optional: Option<bool>,
) -> Result<Files, String> {
    let maps: Api<ConfigMap> = Api::namespaced(node.client.clone(), namespace);
    let map = maps.get_opt(name).await.map_err(|error| error.to_string())?;
    let data = map.map(|map| {
        let texts = map.data.unwrap_or_default().into_iter().map(|(key, text)| (key, text.into_bytes()));
        let bytes = map.binary_data.unwrap_or_default().into_iter().map(|(key, bytes)| (key, bytes.0));
        texts.chain(bytes).collect()
    });
    selected(data, items, optional).ok_or_else(|| format!("ConfigMap {name} or one of its keys is missing"))
}

async fn secret(
    node: &NodeOfProcesses,
    namespace: &str,
    name: &str,
    items: Option<&[KeyToPath]>,
    optional: Option<bool>,
) -> Result<Files, String> {
    let secrets: Api<Secret> = Api::namespaced(node.client.clone(), namespace);
    let secret = secrets.get_opt(name).await.map_err(|error| error.to_string())?;
    let data = secret.map(|secret| {
        let data = secret.data.unwrap_or_default();
        data.into_iter().map(|(key, bytes)| (key, bytes.0)).collect()
    });
    selected(data, items, optional).ok_or_else(|| format!("Secret {name} or one of its keys is missing"))
}

/// The files of a ConfigMap or Secret: all keys, or those that are asked for by name.
fn selected(data: Option<Files>, items: Option<&[KeyToPath]>, optional: Option<bool>) -> Option<Files> {
    let Some(mut data) = data else { return (optional == Some(true)).then(Files::new) };
    let Some(items) = items else { return Some(data) };
    items.iter().map(|item| Some((item.path.clone(), data.remove(&item.key)?))).collect()
}
