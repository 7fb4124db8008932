//! Questions of operators about the state of the stages, and the answers.

use crate::{DecodeError, Encoded, Verdict, impl_message};
use metrics::Figure;
use page::{CanonicalUrl, HostName, PageId, SiteKey, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Command to stage: what does a partition know? It is sent on the stage's input topic, so that the owner of the
/// partition answers, and the answer has seen everything that was sent before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Random; the answers name it.
    pub question_id: String,
    /// The record key: the site of the page, or any key that leads to the partition.
    pub routing_key: String,
    pub about: QuestionKind,
    /// The page, if the question is about one.
    pub url: Option<CanonicalUrl>,
    /// Which hosts are listed, if the question is about hosts.
    pub hosts: Option<HostSelection>,
    pub asked_at: Timestamp,
    /// End of the wait for answers. A stage that reads the question later does not answer it.
    pub answer_until: Timestamp,
    /// The site on whose pages others were found, if the question is about such pages.
    pub site: Option<SiteKey>,
    /// Which pages are listed, if the question is about a list of pages.
    pub pages: Option<PageSelection>,
    /// The number of the version whose copy is wanted, if the question is about the history of a page. `None`: all
    /// versions are listed.
    pub version: Option<i32>,
}

/// Subject of a question: a page, or the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// The entries that the stage keeps for a page, without its copy.
    Page,
    /// The stored copy of a page.
    Copy,
    /// Why a page is or is not due.
    Explanation,
    /// The figures of the partition.
    Figures,
    /// The hosts of the partition.
    Hosts,
    /// How many pages of the partition were found first on a page or on the pages of a site, and are no seeds.
    Discovered,
    /// The pages of the partition, in the order of their ids.
    Pages,
    /// The state that a watch rule is tried on: the detector's entries of a page, with the stored bytes of its copy.
    Watched,
    /// The versions of a page, or the copy of one of them.
    History,
    /// A kind that only a newer version knows.
    Unknown,
}

/// Which hosts of a partition are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSelection {
    /// The order; the first hosts in it are listed.
    pub order: HostOrder,
    pub at_most: i32,
}

/// Which pages of a partition are listed. A page must have all that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageSelection {
    /// Pages with ids up to this one are done. `None`: none is.
    pub after: Option<PageId>,
    pub at_most: i32,
    pub host: Option<HostName>,
    /// A part of the address, in any case.
    pub address_part: Option<String>,
    /// How the last request went: the word of an [`OutcomeClass`](crate::OutcomeClass), or the
    /// [name](crate::AnswerReport::name) of one kind of answer.
    pub outcome: Option<String>,
    pub verdict: Option<Verdict>,
    /// Only pages without a copy.
    pub never_fetched: bool,
}

/// An order of hosts, from the first to the last listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostOrder {
    /// Most pages first.
    Pages,
    /// Most fetches first.
    Fetches,
    /// Largest sum of weights first.
    Value,
    /// Stalest first.
    Freshness,
    /// By name.
    Name,
}

/// Stage to command: the answer of one partition of one stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question. Also the record key.
    pub question_id: String,
    /// The stage that answers.
    pub stage: String,
    /// Its partition.
    pub partition: i32,
    pub answered_at: Timestamp,
    /// Entries of its tables. Those that do not exist are left out.
    pub entries: Vec<TableEntry>,
    /// The result that the stage has worked out, as JSON; `None` if the entries are the answer.
    pub json: Option<String>,
}

/// An entry of a stage's table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableEntry {
    pub table: String,
    /// The encoded value, as it is stored.
    #[serde(with = "serde_bytes")]
    pub value: Vec<u8>,
}

impl Answer {
    /// Sets the JSON of the answer.
    ///
    /// # Errors
    /// When the value has no form in JSON.
    pub fn set_json(&mut self, value: &impl Serialize) -> Result<(), String> {
        self.json = Some(serde_json::to_string(value).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Reads the JSON of the answer.
    ///
    /// # Errors
    /// When the answer has no JSON, or the JSON is not a `T`.
    pub fn read_json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, String> {
        serde_json::from_str(self.json.as_deref().unwrap_or("")).map_err(|error| error.to_string())
    }

    /// Sets the figures of the partition. Those that are no numbers are left out.
    ///
    /// # Errors
    /// As [`Self::set_json`].
    pub fn set_figures(&mut self, figures: &[Figure]) -> Result<(), String> {
        let finite =
            figures.iter().filter(|(_, value)| value.is_finite()).map(|(metric, value)| (metric.figure, value));
        self.set_json(&finite.collect::<BTreeMap<_, _>>())
    }

    /// The value of the entry of this table; `None` if the answer has no such entry.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn entry<V: Encoded>(&self, table: &str) -> Result<Option<V>, DecodeError> {
        let found = self.entries.iter().find(|entry| entry.table == table);
        found.map(|entry| V::decode(&entry.value)).transpose()
    }

    /// Adds an entry of a table, if it exists.
    pub fn add<V: Encoded>(&mut self, table: &str, value: Option<&V>) {
        self.entries.extend(value.map(|value| TableEntry { table: table.to_owned(), value: value.encode() }));
    }
}

impl_message!(Question, "Question", include_str!("../../../../schemas/Question.avsc"));
impl_message!(Answer, "Answer", include_str!("../../../../schemas/Answer.avsc"));
