//! Policies against what was published about them, and against their reference implementations.

mod baselines;
mod edf;
mod planned;
mod systems;
