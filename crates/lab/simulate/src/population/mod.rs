//! The pages of a simulation: place, importance and cost.

mod column;
mod synthetic;

pub use self::synthetic::{PopulationKind, SyntheticPopulation};

use self::column::PageColumn;
use crate::error::SimulationError;
use sweeps::{GroupKind, PagePlace};

/// A page as it is given to a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedPage {
    /// Importance; not negative, only ratios count.
    pub weight: f64,
    /// Budget that one fetch costs; positive.
    pub cost: f64,
    /// The number of its host.
    pub host: u32,
    /// The number of the section (a source, a class) under which its results are reported.
    pub section: u16,
    /// Its place on its site.
    pub place: PagePlace,
}

/// All pages, in columns of at most 14 bytes a page. Values that all pages share are stored once. Synthetic pages have
/// no stored place: it follows from host and number.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    weight: PageColumn<f32>,
    cost: PageColumn<f32>,
    host: PageColumn<u32>,
    section: PageColumn<u16>,
    places: Option<Vec<PagePlace>>,
    sections: Vec<String>,
    total_weight: f64,
}

impl Pages {
    /// These pages; `sections` are the names of their sections. Weights and costs are stored as f32. Fails on an
    /// invalid weight or cost, and when no page has weight.
    pub fn new(pages: impl IntoIterator<Item = SimulatedPage>, sections: Vec<String>) -> Result<Self, SimulationError> {
        let mut all = Self { places: Some(Vec::new()), sections, ..Self::default() };
        for page in pages {
            all.push(page.weight, page.cost, page.host, page.section)?;
            all.places.get_or_insert_default().push(page.place);
        }
        all.checked()
    }

    fn push(&mut self, weight: f64, cost: f64, host: u32, section: u16) -> Result<(), SimulationError> {
        let page = self.weight.len();
        let fault = |field, value, expected| Err(SimulationError::Page { page, field, value, expected });
        if !(weight >= 0.0 && (weight as f32).is_finite()) {
            return fault("weight", weight, "a finite number, not negative");
        }
        if !(cost as f32 > 0.0 && (cost as f32).is_finite()) {
            return fault("cost", cost, "a positive, finite number");
        }
        if usize::from(section) >= self.sections.len() {
            return fault("section", f64::from(section), "below the number of sections");
        }
        self.weight.push(weight as f32);
        self.cost.push(cost as f32);
        self.host.push(host);
        self.section.push(section);
        self.total_weight += f64::from(weight as f32);
        Ok(())
    }

    fn checked(self) -> Result<Self, SimulationError> {
        if self.is_empty() {
            return Err(SimulationError::NoPages);
        }
        if self.total_weight <= 0.0 {
            let expected = "positive for at least one page";
            return Err(SimulationError::Page { page: 0, field: "weight", value: 0.0, expected });
        }
        Ok(self)
    }

    /// Number of pages; at least one.
    pub fn len(&self) -> usize {
        self.weight.len()
    }

    /// Never true; exists because of `len`.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn weight(&self, page: usize) -> f64 {
        f64::from(self.weight.get(page))
    }

    /// Sum of all weights; positive.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// Budget that one fetch of a page costs.
    #[inline]
    pub fn cost(&self, page: usize) -> f64 {
        f64::from(self.cost.get(page))
    }

    pub fn host(&self, page: usize) -> u32 {
        self.host.get(page)
    }

    /// One more than the highest host number.
    pub fn hosts(&self) -> usize {
        self.host.values().max().map_or(0, |host| host as usize + 1)
    }

    #[inline]
    pub fn section(&self, page: usize) -> usize {
        usize::from(self.section.get(page))
    }

    pub fn sections(&self) -> &[String] {
        &self.sections
    }

    pub fn place(&self, page: usize) -> PagePlace {
        match &self.places {
            Some(places) => places[page],
            None => {
                let host = format!("h{}.test", self.host.get(page));
                let mut place = PagePlace::of(&host, &host, &format!("/p{page}.html"));
                // No two pages share a file name: a group of one is never asked for, and need not be counted.
                place.groups[GroupKind::FileName as usize] = 0;
                place
            }
        }
    }

    pub fn info(&self, page: usize) -> SimulatedPage {
        SimulatedPage {
            weight: self.weight(page),
            cost: self.cost(page),
            host: self.host(page),
            section: self.section.get(page),
            place: self.place(page),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(weight: f64, cost: f64) -> SimulatedPage {
        SimulatedPage { weight, cost, host: 0, section: 0, place: PagePlace::of("a.test", "a.test", "/") }
    }

    #[test]
    fn faults_name_the_page_and_the_field() {
        let fault = |pages: Vec<SimulatedPage>| Pages::new(pages, vec!["all".into()]).expect_err("a fault").to_string();
        assert_eq!(fault(vec![]), "the population has no pages; give it at least one");
        assert_eq!(
            fault(vec![page(1.0, 1.0), page(-2.0, 1.0)]),
            "page 1: weight is -2; it must be a finite number, not negative"
        );
        assert!(fault(vec![page(f64::NAN, 1.0)]).starts_with("page 0: weight is NaN"));
        assert!(fault(vec![page(1.0, 0.0)]).starts_with("page 0: cost is 0"));
        assert!(fault(vec![page(0.0, 1.0)]).contains("at least one page"));
        assert!(fault(vec![SimulatedPage { section: 1, ..page(1.0, 1.0) }]).starts_with("page 0: section is 1"));
    }
}
