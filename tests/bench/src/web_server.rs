//! nginx on loopback with pages that make `install` puts there, and its own books of what it answered.

use crate::measure::{Measured, on_core};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tests::wait_for;

/// The core of nginx; contestants have another.
const SERVER_CORE: usize = 1;
/// Debian's postgresql-doc-15: 1,169 pages of 13.8 kB on average, all of which the first one leads to.
const PAGES: &str = "/usr/share/doc/postgresql-doc-15/html";
const PATIENCE: Duration = Duration::from_secs(20);

/// Pages that are served under every address of loopback.
pub(crate) struct Site {
    directory: PathBuf,
    /// Size in bytes by file name.
    pub(crate) pages: BTreeMap<String, u64>,
}

impl Site {
    /// The pages, or why there are none.
    pub(crate) fn installed() -> Result<Self, String> {
        let absent = |_| "no pages to serve (postgresql-doc-15; make bench installs it where documentation is kept)";
        let mut pages = BTreeMap::new();
        for file in std::fs::read_dir(PAGES).map_err(absent)?.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.ends_with(".html") {
                pages.insert(name, file.metadata().map_err(absent)?.len());
            }
        }
        Ok(Self { directory: PAGES.into(), pages })
    }

    /// The `count` pages nearest to the mean size.
    pub(crate) fn of_mean_size(&self, count: usize) -> Self {
        let mean = self.bytes() / self.pages.len() as u64;
        let mut pages: Vec<_> = self.pages.clone().into_iter().collect();
        pages.sort_by_key(|(_, size)| size.abs_diff(mean));
        Self { directory: self.directory.clone(), pages: pages.into_iter().take(count).collect() }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.pages.values().sum()
    }
}

/// How the pages are served.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// As fast as it goes, over connections that stay open.
    KeepAlive,
    /// Slowly, so that all connections are open at the same time.
    Slow,
    /// Over TLS, each page over a connection of its own that begins anew.
    FullHandshakes,
    /// The same for contestants that do not verify the certificate.
    UncheckedHandshakes,
    /// The same, but a connection may take up the session of an earlier one.
    ResumedHandshakes,
}

impl Way {
    pub(crate) fn scheme(self) -> &'static str {
        if matches!(self, Self::KeepAlive | Self::Slow) { "http" } else { "https" }
    }

    fn settings(self) -> &'static str {
        match self {
            Self::KeepAlive => "",
            // A page of 14 kB takes three seconds.
            Self::Slow => "limit_rate 4k;",
            Self::FullHandshakes | Self::UncheckedHandshakes => "keepalive_timeout 0; ssl_session_tickets off;",
            Self::ResumedHandshakes => "keepalive_timeout 0; ssl_session_tickets on;",
        }
    }
}

/// A running nginx.
pub(crate) struct WebServer {
    process: Measured,
    pub(crate) directory: TempDir,
    pub(crate) port: u16,
    way: Way,
}

/// The answers in nginx's access log, and the CPU time of nginx.
pub(crate) struct Books {
    pub(crate) pages: u64,
    pub(crate) bytes: u64,
    /// Connections that pages went over.
    pub(crate) connections: usize,
    /// Pages over connections that took up an earlier TLS session.
    pub(crate) resumed: u64,
    pub(crate) cpu: Duration,
}

impl WebServer {
    pub(crate) fn start(site: &Site, way: Way) -> Self {
        let directory = TempDir::new().expect("there is room for a benchmark");
        let port = crate::crawls::free_port();
        let tls = way.scheme() == "https";
        if tls {
            // A name in it is enough for wrk, which does not look, and an address for us, who do.
            let names: Vec<_> = (1..=64).map(|last| format!("127.0.0.{last}")).collect();
            let made = rcgen::generate_simple_self_signed(names).expect("a certificate can be made");
            let write = |name: &str, text: String| std::fs::write(directory.path().join(name), text);
            let written =
                write("certificate.pem", made.cert.pem()).and(write("key.pem", made.signing_key.serialize_pem()));
            written.expect("a temporary directory takes files");
        }
        let tls_settings = "ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate certificate.pem; ssl_certificate_key key.pem; ssl_session_cache off;";
        // The access log is written answer by answer. This costs only time of the server, which no contestant is charged for.
        let configuration = format!(
            "daemon off; master_process off; pid nginx.pid; error_log error.log;
             events {{ worker_connections 8192; }}
             http {{
               types {{ text/html html; text/css css; }}
               default_type application/octet-stream;
               sendfile on; tcp_nopush on; tcp_nodelay on;
               keepalive_requests 100000000; keepalive_timeout 600;
               open_file_cache max=4000 inactive=600s; open_file_cache_valid 600s;
               log_format books '$status $body_bytes_sent $connection $ssl_session_reused- $uri';
               access_log books books;
               client_body_temp_path temp; proxy_temp_path temp; fastcgi_temp_path temp;
               uwsgi_temp_path temp; scgi_temp_path temp;
               server {{
                 listen 0.0.0.0:{port} {} backlog=4096;
                 allow 127.0.0.0/8; deny all;
                 {} {}
                 root {};
                 location = /robots.txt {{ return 200 \"User-agent: *\\nDisallow: /private/\\n\"; }}
               }}
             }}",
            if tls { "ssl" } else { "" },
            if tls { tls_settings } else { "" },
            way.settings(),
            site.directory.display(),
        );
        let file = directory.path().join("nginx.conf");
        std::fs::write(&file, configuration).expect("a temporary directory takes files");
        let mut command = Command::new(program().expect("looked for before"));
        command.arg("-p").arg(directory.path()).arg("-c").arg(file).args(["-e", "error.log"]);
        let process = Measured::start(on_core(command, SERVER_CORE), directory.path());
        wait_for("nginx listens", PATIENCE, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
        Self { process, directory, port, way }
    }

    /// The address of a page on one of its hosts, counted from 0.
    pub(crate) fn url(&self, host: usize, page: &str) -> String {
        format!("{}://127.0.{}.{}:{}/{page}", self.way.scheme(), host / 250, host % 250 + 1, self.port)
    }

    /// Stops it.
    pub(crate) fn books(self, site: &Site) -> Books {
        self.process.terminate();
        let cpu = self.process.finish().cpu;
        let text = std::fs::read_to_string(self.directory.path().join("books")).unwrap_or_default();
        let mut connections = std::collections::BTreeSet::new();
        let (mut pages, mut bytes, mut resumed) = (0, 0, 0);
        for line in text.lines() {
            let fields: Vec<_> = line.splitn(5, ' ').collect();
            let &[status, sent, connection, reused, uri] = &fields[..] else { continue };
            if status == "200" && site.pages.contains_key(uri.trim_start_matches('/')) {
                pages += 1;
                bytes += sent.parse::<u64>().unwrap_or(0);
                connections.insert(connection.to_owned());
                resumed += u64::from(reused == "r-");
            }
        }
        Books { pages, bytes, connections: connections.len(), resumed, cpu }
    }
}

/// Where nginx is, which Debian keeps out of the way of users.
pub(crate) fn program() -> Result<PathBuf, String> {
    let places = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&places).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from));
    let found = places.map(|place| place.join("nginx")).find(|path| path.exists());
    found.ok_or_else(|| "no nginx (make bench installs it)".to_owned())
}

/// Whether a program can be found.
pub(crate) fn has(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|places| std::env::split_paths(&places).any(|place| place.join(name).exists()))
}
