//! Plans and prices against references and properties.

mod allocation;
mod columns;
mod kernels;
mod least_worth;
mod live;
