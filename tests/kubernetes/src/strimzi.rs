//! Stands in for Strimzi's operators: its resources are accepted, and its users have certificates.

use crate::control_plane::openssl;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use std::path::Path;

/// Makes the custom resources of Strimzi and of Prometheus' operator known that `k8s/` uses. What their fields must be is
/// checked by `make k8s-check`. KEDA brings its own.
pub async fn define_custom_resources(client: &Client, schemas: &Path) {
    let schemas: Value = serde_json::from_slice(&std::fs::read(schemas).unwrap()).unwrap();
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for name in schemas.as_object().unwrap().keys().filter(|name| !name.starts_with("keda.sh/")) {
        let (group_version, kind) = name.split_once(' ').unwrap();
        let (group, version) = group_version.split_once('/').unwrap();
        let singular = kind.to_lowercase();
        let plural = if singular.ends_with('s') { singular.clone() } else { format!("{singular}s") };
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {
                "group": group, "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural, "singular": singular},
                "versions": [{
                    "name": version, "served": true, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                }],
            },
        });
        api.create(&PostParams::default(), &serde_json::from_value(definition).unwrap()).await.unwrap();
    }
}

/// Makes the Secrets that Strimzi's operator makes: the authority of the brokers, and a certificate for each user. All
/// of them are that of the one user whom the tests' Kafka knows.
pub async fn make_secrets(client: &Client, namespace: &str, kafka: &Path, users: &[&str]) {
    let key = tempfile::NamedTempFile::new().unwrap();
    let of = |name: &str| kafka.join(name).display().to_string();
    let password = format!("file:{}", of("key-password"));
    openssl(&["pkey", "-in", &of("client-key.pem"), "-passin", &password, "-out", &key.path().display().to_string()])
        .await;
    let file = |path: &Path| ByteString(std::fs::read(path).unwrap());
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let secret = |name: &str, data: Vec<(&str, ByteString)>| Secret {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(data.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ..Secret::default()
    };
    let authority = secret("recrawl-cluster-ca-cert", vec![("ca.crt", file(&kafka.join("ca.pem")))]);
    secrets.create(&PostParams::default(), &authority).await.unwrap();
    for user in users {
        let data = vec![("user.crt", file(&kafka.join("client.pem"))), ("user.key", file(key.path()))];
        secrets.create(&PostParams::default(), &secret(user, data)).await.unwrap();
    }
}
