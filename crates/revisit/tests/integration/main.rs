//! Plans and prices against references and properties.

mod allocation;
mod columns;
mod kernels;
mod live;
