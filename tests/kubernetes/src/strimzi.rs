//! Stands in for Strimzi's operators: its resources are accepted, and its users have certificates and rights.

use crate::control_plane::openssl;
use crate::kafka::Kafka;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use std::path::Path;
use tokio::process::Command;

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

/// Does what Strimzi's user operator does: each KafkaUser has its rights, a certificate, and a Secret with it. The brokers'
/// authority is in a Secret, too.
pub async fn serve_users(client: &Client, namespace: &str, kafka: &mut Kafka, users: &Value) {
    let users = &users["items"];
    kafka.allow(users).await;
    let authority = kafka.secrets();
    let at = |name: &str| authority.join(name).display().to_string();
    let file = |path: &Path| ByteString(std::fs::read(path).unwrap());
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let secret = |name: &str, data: Vec<(&str, ByteString)>| Secret {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(data.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ..Secret::default()
    };
    let brokers = secret("recrawl-cluster-ca-cert", vec![("ca.crt", file(&authority.join("ca.pem")))]);
    secrets.create(&PostParams::default(), &brokers).await.unwrap();
    for user in users.as_array().unwrap() {
        let name = user["metadata"]["name"].as_str().unwrap();
        let made = tempfile::tempdir().unwrap();
        let (certificate, key) = (made.path().join("user.crt"), made.path().join("user.key"));
        let new_key = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc"];
        let signed =
            ["-days", "30", "-CA", &at("ca.pem"), "-CAkey", &at("ca-key.pem"), "-subj", &format!("/CN={name}")];
        let out = ["-keyout", &key.display().to_string(), "-out", &certificate.display().to_string()];
        openssl(&[&new_key[..], &signed, &["-addext", "basicConstraints=CA:false"], &out].concat()).await;
        let data = vec![("user.crt", file(&certificate)), ("user.key", file(&key))];
        secrets.create(&PostParams::default(), &secret(name, data)).await.unwrap();
    }
}

/// Makes the topics, as Strimzi's topic operator does: no user of recrawl may. `make k8s-check` compares its resources with the
/// topics that recrawl makes.
pub async fn make_topics(recrawl: &Path, kafka: &Kafka) {
    let brokers = format!("kafka.brokers={}", kafka.brokers_without_login());
    let mut command = Command::new(recrawl);
    command.args(["topics", "create", "--set", &brokers, "--set", "kafka.replication_factor=1"]);
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
