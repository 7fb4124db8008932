//! What all connections of a process share: the rules, and the names that were looked up.

use crate::resolver::Resolver;
use crate::rules::Rules;
use std::sync::Arc;

/// One per thread of the network.
pub(crate) struct Network {
    pub(crate) rules: Arc<Rules>,
    pub(crate) resolver: Resolver,
}

impl Network {
    pub(crate) fn new(rules: Arc<Rules>) -> Self {
        Self { resolver: Resolver::system(&rules.fetch), rules }
    }
}
