//! The directories behind a pod's volumes.

use super::NodeOfProcesses;
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::{ConfigMap, KeyToPath, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Volume};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt::Debug;
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
        keys(node, &namespace, &map.name, map_files, map.items.as_deref(), map.optional).await?
    } else if let Some(secret) = &volume.secret {
        let name = secret.secret_name.as_deref().unwrap_or_default();
        keys(node, &namespace, name, secret_files, secret.items.as_deref(), secret.optional).await?
    } else if let Some(projected) = &volume.projected {
        let mut files = Files::new();
        for source in projected.sources.iter().flatten() {
            files.extend(if let Some(map) = &source.config_map {
                keys(node, &namespace, &map.name, map_files, map.items.as_deref(), map.optional).await?
            } else if let Some(secret) = &source.secret {
                keys(node, &namespace, &secret.name, secret_files, secret.items.as_deref(), secret.optional).await?
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

fn map_files(map: ConfigMap) -> Files {
    let texts = map.data.unwrap_or_default().into_iter().map(|(key, text)| (key, text.into_bytes()));
    let bytes = map.binary_data.unwrap_or_default().into_iter().map(|(key, bytes)| (key, bytes.0));
    texts.chain(bytes).collect()
}

fn secret_files(secret: Secret) -> Files {
    secret.data.unwrap_or_default().into_iter().map(|(key, bytes)| (key, bytes.0)).collect()
}

/// The files of a ConfigMap or Secret.
async fn keys<K>(
    node: &NodeOfProcesses,
    namespace: &str,
    name: &str,
    files: fn(K) -> Files,
    items: Option<&[KeyToPath]>,
    optional: Option<bool>,
) -> Result<Files, String>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let objects: Api<K> = Api::namespaced(node.client.clone(), namespace);
    let object = objects.get_opt(name).await.map_err(|error| error.to_string())?;
    let missing = || format!("{} {name} or one of its keys is missing", K::kind(&()));
    selected(object.map(files), items, optional).ok_or_else(missing)
}

/// All keys, or those that are asked for by name.
fn selected(data: Option<Files>, items: Option<&[KeyToPath]>, optional: Option<bool>) -> Option<Files> {
    let Some(mut data) = data else { return (optional == Some(true)).then(Files::new) };
    let Some(items) = items else { return Some(data) };
    items.iter().map(|item| Some((item.path.clone(), data.remove(&item.key)?))).collect()
}
