//! A web of sites with farms among them, drawn from a seed.

use chance::{Draws, SplitMix64};
use std::collections::BTreeSet;

const ORDINARY_SITES: u32 = 3_000;
/// Sites that half of the others link, as those of social networks.
const GIANTS: u32 = 3;

/// Sites of one kind, with the numbers from the first to the last.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Those that are to be found. The sites that only lift them are no harm.
    pub(crate) spam: Vec<u32>,
    pub(crate) honest: Vec<u32>,
}

pub(crate) struct Web {
    pub(crate) sites: u32,
    pub(crate) links: BTreeSet<(u32, u32)>,
    pub(crate) kinds: Vec<Kind>,
    /// The numbers of links of the pages of each site.
    pub(crate) degrees: Vec<Vec<u32>>,
    random: SplitMix64,
}

impl Web {
    pub(crate) fn draw(seed: u64) -> Self {
        let mut web =
            Self { sites: 0, links: BTreeSet::new(), kinds: Vec::new(), degrees: Vec::new(), random: SplitMix64(seed) };
        web.ordinary();
        web.communities();
        web.families();
        web.program();
        web.clique("clique", 40, 1.0, 0);
        web.clique("half clique", 40, 0.5, 0);
        web.clique("clique that links good sites", 40, 1.0, 20);
        web.ring();
        web.boosters();
        web.star("star, links both ways", true);
        web.star("star, links one way", false);
        web
    }

    fn add(&mut self, count: u32) -> Vec<u32> {
        let first = self.sites;
        self.sites += count;
        for _ in 0..count {
            let pages = 1 + self.random.below(20);
            let degrees = (0..pages).map(|_| (8.0 * self.random.pareto(1.6)).min(2_000.0) as u32).collect();
            self.degrees.push(degrees);
        }
        (first..self.sites).collect()
    }

    /// Sites of one program, whose pages have all the same number of links.
    fn add_made(&mut self, count: u32, degree: u32) -> Vec<u32> {
        let sites = self.add(count);
        for site in &sites {
            self.degrees[*site as usize].fill(degree);
        }
        sites
    }

    fn link(&mut self, from: u32, to: u32) {
        if from != to {
            self.links.insert((from, to));
        }
    }

    fn one_of(&mut self, sites: &[u32]) -> u32 {
        sites[self.random.below(sites.len() as u32) as usize]
    }

    /// An ordinary site: the early ones are linked most.
    fn popular(&mut self) -> u32 {
        (f64::from(ORDINARY_SITES) * self.random.uniform().powi(3)) as u32
    }

    fn honest(&mut self, name: &'static str, honest: Vec<u32>) {
        self.kinds.push(Kind { name, spam: Vec::new(), honest });
    }

    fn farm(&mut self, name: &'static str, spam: Vec<u32>) {
        self.kinds.push(Kind { name, spam, honest: Vec::new() });
    }

    fn ordinary(&mut self) {
        let sites = self.add(ORDINARY_SITES);
        for site in &sites {
            let links = (2.0 * self.random.pareto(1.1)).min(300.0) as u32;
            for _ in 0..links {
                let to = self.popular();
                self.link(*site, to);
                // Some links are returned.
                if self.random.uniform() < 0.15 {
                    self.link(to, *site);
                }
            }
            for giant in 0..GIANTS {
                if self.random.uniform() < 0.5 {
                    self.link(*site, giant);
                }
            }
        }
        self.honest("ordinary sites", sites);
    }

    /// Blogs that read each other and often link back, and that others read, too.
    fn communities(&mut self) {
        let mut all = Vec::new();
        for _ in 0..10 {
            let blogs = self.add(30);
            for blog in &blogs {
                for _ in 0..8 {
                    let friend = self.one_of(&blogs);
                    self.link(*blog, friend);
                    if self.random.uniform() < 0.4 {
                        self.link(friend, *blog);
                    }
                }
                let readers = 2 + self.random.poisson(6.0);
                for _ in 0..readers {
                    let reader = self.popular();
                    self.link(reader, *blog);
                    let read = self.popular();
                    self.link(*blog, read);
                }
            }
            all.extend(blogs);
        }
        self.honest("communities of blogs", all);
    }

    /// The sites of one owner in several countries: all link each other, and customers link them.
    fn families(&mut self) {
        let mut all = Vec::new();
        for _ in 0..10 {
            let sites = self.add(12);
            for site in &sites {
                for other in &sites {
                    self.link(*site, *other);
                }
                let customers = 8 + self.random.poisson(20.0);
                for _ in 0..customers {
                    let customer = self.popular();
                    self.link(customer, *site);
                }
            }
            all.extend(sites);
        }
        self.honest("families of one owner", all);
    }

    /// Sites that use one program, and leave half of their pages as it made them.
    fn program(&mut self) {
        let sites = self.add(80);
        for site in &sites {
            let pages = &mut self.degrees[*site as usize];
            let half = pages.len().div_ceil(2);
            pages[..half].fill(64);
            for _ in 0..6 {
                let (from, to) = (self.popular(), self.popular());
                self.link(from, *site);
                self.link(*site, to);
            }
        }
        self.honest("sites of one program", sites);
    }

    fn clique(&mut self, name: &'static str, count: u32, share: f64, good_links: u32) {
        let sites = self.add_made(count, count + good_links + 4);
        for (number, site) in sites.iter().enumerate() {
            for other in &sites[number + 1..] {
                if self.random.uniform() < share {
                    self.link(*site, *other);
                    self.link(*other, *site);
                }
            }
            for _ in 0..good_links {
                let good = self.popular();
                self.link(*site, good);
            }
        }
        // A guest book or two were talked into a link.
        for _ in 0..3 {
            let (from, to) = (self.popular(), self.one_of(&sites));
            self.link(from, to);
        }
        self.farm(name, sites);
    }

    fn ring(&mut self) {
        let sites = self.add_made(60, 31);
        for (number, site) in sites.iter().enumerate() {
            for step in 1..=5 {
                let next = sites[(number + step) % sites.len()];
                self.link(*site, next);
                self.link(next, *site);
            }
        }
        self.farm("ring, links to the next and last five", sites);
    }

    fn boosters(&mut self) {
        let (boosters, targets) = (self.add_made(60, 127), self.add(6));
        for booster in &boosters {
            for target in &targets {
                self.link(*booster, *target);
            }
            (0..GIANTS).for_each(|giant| self.link(*booster, giant));
        }
        self.farm("60 boosters of six targets: targets", targets);
        self.farm("the same: boosters", boosters);
    }

    fn star(&mut self, name: &'static str, is_returned: bool) {
        let (leaves, hub) = (self.add_made(60, if is_returned { 43 } else { 153 }), self.add(1));
        for leaf in &leaves {
            self.link(*leaf, hub[0]);
            if is_returned {
                self.link(hub[0], *leaf);
            }
        }
        self.farm(name, hub);
        if !is_returned {
            self.farm("its leaves", leaves);
        }
    }
}
