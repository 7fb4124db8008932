//! The connections of a host. Each scheme and port has one of its own; the gate is the host's.

use crate::connection::Connection;
use page::CanonicalUrl;

/// Most origins of a host that keep a connection. One host could name thousands of ports.
const MAX_ORIGINS: usize = 4;

/// The idle connections by origin, the one used last at the end.
#[derive(Default)]
pub(super) struct Origins(Vec<(String, Option<Connection>)>);

impl Origins {
    /// The connection to the origin of a URL.
    pub(super) fn connection(&mut self, url: &CanonicalUrl) -> &mut Option<Connection> {
        let name = url.origin();
        let origin = match self.0.iter().position(|(origin, _)| origin == name) {
            Some(place) => self.0.remove(place),
            None => {
                if self.0.len() == MAX_ORIGINS {
                    self.0.remove(0);
                }
                (name.to_owned(), None)
            }
        };
        self.0.push(origin);
        &mut self.0.last_mut().expect("it was just added").1
    }

    /// Closes all connections.
    pub(super) fn close(&mut self) {
        self.0.clear();
    }
}
