//! Methods of the literature that no crawl uses. recrawl measured itself by them; `recrawl rank` and `recrawl mirrors` apply two of
//! them to files.
//!
//! | module | question | source |
//! |---|---|---|
//! | [`sampling`] | which groups of pages to fetch, by samples | Cho & Ntoulas 2002 (B9) |
//! | [`push`] | PageRank kept up to date by pushing residuals | D1 |
//! | [`quality`] | how popular a page will be | Cho, Roy & Adams 2005 (D7) |
//! | [`longevity`] | the value of a fetch when content counts by how long it stays | Olston & Pandey 2008 (C21) |
//! | [`ranking`] | which pages matter, over a whole graph of links | D1 to D6 |
//! | [`mirrors_by_links`] | which pages have the links of others | E5, E7 |
//! | [`signals`] | the value of a page whose site announces changes | Busa-Fekete et al. 2025 (C16) |
//!
//! The reference values of rankings and mirrors are tested here, those of the others by the crates that they would belong to.

pub mod longevity;
pub mod mirrors_by_links;
pub mod push;
pub mod quality;
pub mod ranking;
pub mod sampling;
pub mod signals;
