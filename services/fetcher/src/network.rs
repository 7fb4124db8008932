//! What all connections of a process share: the rules, the names that were looked up, and the addresses asked lately.

use crate::gate::AddressGate;
use crate::resolver::Resolver;
use crate::rules::Rules;
use std::sync::Arc;
use stream::Clock;

/// One per thread of the network.
pub(crate) struct Network {
    pub(crate) rules: Arc<Rules>,
    pub(crate) resolver: Resolver,
    pub(crate) addresses: AddressGate,
}

impl Network {
    pub(crate) fn new(rules: Arc<Rules>, clock: Arc<dyn Clock>) -> Self {
        let addresses = AddressGate::new(clock, rules.address_delay);
        Self { resolver: Resolver::system(&rules.fetch), rules, addresses }
    }
}
