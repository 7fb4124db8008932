//! How do crawlers that exist, or that papers describe, choose the next page?
//!
//! Each module is one system: its rules as functions of values, and the system at work behind
//! [`revisit::RevisitPolicy`], to be run and to be measured against.
//!
//! | system | module | source |
//! |---|---|---|
//! | StormCrawler, Nutch, news-crawl | [`adaptive`] | their adaptive schedules, with the settings they ship |
//! | two rate classes | [`classified`] | Wen & Lu; C3 of the algorithm notes |
//! | ranks 4/2/1 by link value | [`site_ranks`], [`link_value`] | Ni et al.; C4, D4 |
//! | Tianwang | [`tianwang`] | Meng et al.; C5 |
//! | University of Chile (WIRE) | [`chile`] | Castillo & Baeza-Yates; C6 |
//! | WebFountain | [`webfountain`] | Edwards, McCurley & Tomlin; C7 |
//!
//! Two more modules put a number on what a page is worth: [`signals`] when its site announces changes, not always and
//! not always truly (C16), and [`longevity`] when what counts is how long new content stays (C21).

pub mod adaptive;
pub mod allocate;
pub mod catalogue;
pub mod chairman;
pub mod chile;
pub mod classified;
pub mod edf;
pub mod link_value;
pub mod longevity;
mod pages;
pub mod planned;
pub mod signals;
pub mod site_ranks;
pub mod tianwang;
pub mod webfountain;
