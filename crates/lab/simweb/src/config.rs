//! The settings of a web.

use crate::dials::{FaultRule, HostDials};
use crate::gate::PageGate;
use crate::web::WebSource;
use rustls::ServerConfig;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct SimWebConfig {
    /// Address to listen on. Port 0 takes any free port.
    pub bind: SocketAddr,
    pub source: WebSource,
    /// Dials of every host …
    pub dials: HostDials,
    /// … except these, by name without port.
    pub host_dials: BTreeMap<String, HostDials>,
    /// Faults. Of several rules that apply to a request the first is used.
    pub faults: Vec<FaultRule>,
    /// Mean length of a generated page in bytes; lengths vary from half to one and a half of it.
    pub page_bytes: usize,
    /// Share of the hosts with a truthful sitemap that have one which misleads instead, in a way drawn from the seed.
    pub misleading_sitemaps: f64,
    /// Seed of the faults and of the hosts that mislead.
    pub seed: u64,
    /// Holds the answers to requests for pages back.
    pub gate: Option<Arc<PageGate>>,
    /// TLS for connections that begin with it. The others, on the same ports, have none.
    pub tls: Option<Arc<ServerConfig>>,
}

impl SimWebConfig {
    /// A well-behaved web on a free port of 127.0.0.1.
    pub fn new(source: WebSource) -> Self {
        Self {
            bind: (Ipv4Addr::LOCALHOST, 0).into(),
            source,
            dials: HostDials::default(),
            host_dials: BTreeMap::new(),
            faults: Vec::new(),
            page_bytes: 14_000,
            misleading_sitemaps: 0.0,
            seed: 1,
            gate: None,
            tls: None,
        }
    }
}
