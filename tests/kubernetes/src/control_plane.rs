//! etcd, kube-apiserver, kube-controller-manager and kube-scheduler as processes on loopback.

use crate::{attended, free_port, logged, wait_for};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::{Child, Command};

const TOKEN: &str = "e2e";

/// A running control plane. It ends with this value.
pub struct ControlPlane {
    directory: TempDir,
    programs: PathBuf,
    client: Client,
    _processes: Vec<Child>,
}

impl ControlPlane {
    /// Starts it from the programs in a directory, and waits until it answers.
    pub async fn start(programs: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).display().to_string();
        openssl(&["genrsa", "-out", &at("sa.key"), "2048"]).await;
        openssl(&["rsa", "-in", &at("sa.key"), "-pubout", "-out", &at("sa.pub")]).await;
        certificates(directory.path()).await;
        std::fs::write(at("tokens.csv"), format!("{TOKEN},admin,1,system:masters\n")).unwrap();

        let start = |program: &str, arguments: Vec<String>| {
            let mut command = attended(programs.join(program));
            command.args(arguments);
            logged(command, directory.path(), program)
        };
        let [etcd, peers, server, controllers, scheduler] = std::array::from_fn(|_| free_port());
        let mut processes = vec![start(
            "etcd",
            vec![
                format!("--data-dir={}", at("etcd")),
                format!("--listen-client-urls=http://127.0.0.1:{etcd}"),
                format!("--advertise-client-urls=http://127.0.0.1:{etcd}"),
                format!("--listen-peer-urls=http://127.0.0.1:{peers}"),
                // Its data need not survive this machine.
                "--unsafe-no-fsync".to_owned(),
            ],
        )];
        processes.push(start(
            "kube-apiserver",
            vec![
                format!("--etcd-servers=http://127.0.0.1:{etcd}"),
                "--bind-address=127.0.0.1".to_owned(),
                format!("--secure-port={server}"),
                format!("--cert-dir={}", at("certificates")),
                format!("--service-account-key-file={}", at("sa.pub")),
                format!("--service-account-signing-key-file={}", at("sa.key")),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                format!("--token-auth-file={}", at("tokens.csv")),
                "--authorization-mode=Node,RBAC".to_owned(),
                "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
                // For APIs that others serve, such as KEDA's metrics.
                format!("--client-ca-file={}", at("ca.crt")),
                format!("--requestheader-client-ca-file={}", at("ca.crt")),
                "--requestheader-allowed-names=front-proxy".to_owned(),
                "--requestheader-username-headers=X-Remote-User".to_owned(),
                "--requestheader-group-headers=X-Remote-Group".to_owned(),
                "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
                format!("--proxy-client-cert-file={}", at("front-proxy.crt")),
                format!("--proxy-client-key-file={}", at("front-proxy.key")),
            ],
        ));
        std::fs::write(at("kubeconfig"), kubeconfig(server)).unwrap();
        let client = client(directory.path().join("kubeconfig")).await;
        wait_for("the API server is ready", Duration::from_secs(60), async || {
            let request = http_get("/readyz");
            client.request_text(request).await.map_err(|error| error.to_string())
        })
        .await;
        let common = |port: u16| {
            let kubeconfig = format!("--kubeconfig={}", at("kubeconfig"));
            let port = format!("--secure-port={port}");
            vec![kubeconfig, port, "--bind-address=127.0.0.1".to_owned(), "--leader-elect=false".to_owned()]
        };
        let mut arguments = common(controllers);
        arguments.push(format!("--service-account-private-key-file={}", at("sa.key")));
        arguments.push("--use-service-account-credentials=true".to_owned());
        arguments.push("--horizontal-pod-autoscaler-sync-period=5s".to_owned());
        processes.push(start("kube-controller-manager", arguments));
        processes.push(start("kube-scheduler", common(scheduler)));
        Self { programs: programs.to_owned(), client, _processes: processes, directory }
    }

    /// A client with all rights.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The directory with `kubeconfig`, and with `ca.crt`, `tls.crt` and `tls.key` for servers on loopback.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Runs kubectl to its end.
    pub async fn kubectl(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.programs.join("kubectl"));
        command.arg("--kubeconfig").arg(self.directory.path().join("kubeconfig")).args(arguments);
        command.env("HOME", self.directory.path()).stdin(Stdio::null()).output().await.unwrap()
    }

    /// The same for what must succeed. Returns what it printed.
    pub async fn kubectl_ok(&self, arguments: &[&str]) -> String {
        let output = self.kubectl(arguments).await;
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {}: {errors}", arguments.join(" "));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn http_get(path: &str) -> hyper::http::Request<Vec<u8>> {
    hyper::http::Request::get(path).body(Vec::new()).unwrap()
}

fn kubeconfig(port: u16) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: e2e\n\
         clusters: [{{name: e2e, cluster: {{server: 'https://127.0.0.1:{port}', insecure-skip-tls-verify: true}}}}]\n\
         users: [{{name: admin, user: {{token: {TOKEN}}}}}]\n\
         contexts: [{{name: e2e, context: {{cluster: e2e, user: admin}}}}]\n"
    )
}

async fn client(kubeconfig: PathBuf) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// An authority, a client certificate `front-proxy`, and a certificate `tls` of localhost.
async fn certificates(directory: &Path) {
    let at = |name: &str| directory.join(name).display().to_string();
    let key = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30"];
    openssl(&[&key[..], &["-subj", "/CN=e2e", "-keyout", &at("ca.key"), "-out", &at("ca.crt")]].concat()).await;
    for (name, common_name) in [("front-proxy", "/CN=front-proxy"), ("tls", "/CN=localhost")] {
        let (certificate, secret) = (at(&format!("{name}.crt")), at(&format!("{name}.key")));
        let signed_by = ["-CA", &at("ca.crt"), "-CAkey", &at("ca.key"), "-subj", common_name];
        let extensions = [
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-addext",
            "extendedKeyUsage=serverAuth,clientAuth",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ];
        openssl(&[&key[..], &signed_by, &extensions, &["-keyout", &secret, "-out", &certificate]].concat()).await;
    }
}

/// Runs openssl, which must succeed.
pub(crate) async fn openssl(arguments: &[&str]) {
    let output = Command::new("openssl").args(arguments).output().await.expect("openssl is installed");
    assert!(output.status.success(), "openssl: {}", String::from_utf8_lossy(&output.stderr));
}
