//! The whole loop in one process, over a simulated web: what survives, what it does to the web, what it tells.

mod changes;
mod crashes;
mod operating;
