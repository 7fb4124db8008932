//! The sets of watch rules that operators have saved, and the order to save another.

use daemon::CommandFailure;
use messages::{Encoded, RuleSet, topics};
use scope::Scope;
use settings::{Rule, Settings, read_saved_rules, write_saved_rules};
use std::fmt::Display;
use stream::{InputRecord, Log, LogError, TopicPartition};
use watch::{WatchRule, WatchRules};

/// Records read at once. Few sets are kept.
pub(crate) const AT_ONCE: usize = 100;

/// Rules to be saved, in place of those before.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRules {
    pub rules: Vec<Rule>,
    /// Number of the set that they were made from. If another is the newest by now, they are refused.
    pub after: Option<i64>,
}

/// The first line of a text that says which set it was made from.
const AFTER: &str = "# after ";

impl NewRules {
    /// Reads rules as [`Self::text`] writes them.
    ///
    /// # Errors
    /// Returns all faults of the rules.
    pub fn read(text: &str) -> Result<Self, CommandFailure> {
        let rules = read_saved_rules(text)?;
        // Each crate knows the faults of its part.
        watch::saved(text)?;
        scope::saved(text)?;
        let comments = text.lines().take_while(|line| line.trim().is_empty() || line.starts_with('#'));
        let after = comments.filter_map(|line| line.strip_prefix(AFTER)).map(|number| {
            number
                .trim()
                .parse()
                .map_err(|_| CommandFailure::Input(format!("{AFTER}{number}: write the number of a save")))
        });
        let after = after.last().transpose()?;
        if rules.is_empty() && after.is_none() {
            let problem = "there are no rules, which would remove all; if that is meant, write \"# after N\", with the number of the last \
                           save (recrawl rules --saved)";
            return Err(CommandFailure::Input(problem.to_owned()));
        }
        let new = Self { rules, after };
        // The rules are stored as they are written here, which may be longer.
        read_saved_rules(&new.text())?;
        Ok(new)
    }

    /// The rules as TOML. The set that they were made from stands in a comment.
    pub fn text(&self) -> String {
        let after = self.after.map(|number| format!("{AFTER}{number}\n")).unwrap_or_default();
        after + &write_saved_rules(&self.rules)
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.rules.iter().map(Rule::shown_name)
    }
}

/// The sets that are kept, the oldest first.
#[derive(Clone, Debug, Default)]
pub struct RuleSets(Vec<RuleSet>);

impl RuleSets {
    /// Takes the value of a record of [`topics::RULE_SETS`]. A set that a later one has replaced is dropped.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn take(&mut self, value: Option<&[u8]>) -> Result<(), CommandFailure> {
        let Some(value) = value else { return Ok(()) };
        let set = RuleSet::decode(value).map_err(|error| unreadable(&error))?;
        self.0.retain(|other| other.number != set.number && other.number > set.number - RuleSet::KEPT);
        self.0.push(set);
        self.0.sort_by_key(|set| set.number);
        Ok(())
    }

    /// All of a log, whose records `read` returns from an offset on, with the next offset.
    ///
    /// # Errors
    /// The log does not answer, or a record cannot be read.
    pub(crate) fn read(
        mut read: impl FnMut(u64) -> Result<(Vec<InputRecord>, u64), LogError>,
    ) -> Result<Self, CommandFailure> {
        let (mut sets, mut next) = (Self::default(), 0);
        loop {
            let (records, after) = read(next)?;
            if records.is_empty() {
                return Ok(sets);
            }
            records.iter().try_for_each(|record| sets.take(record.value.as_deref()))?;
            next = after;
        }
    }

    /// All of a log. None, if it has no such topic: then no rule was ever saved.
    ///
    /// # Errors
    /// The log does not answer, or a record cannot be read.
    pub(crate) fn of_log(log: &dyn Log, topic: &str) -> Result<Self, CommandFailure> {
        if log.topic(topic)?.is_none() {
            return Ok(Self::default());
        }
        let (mut reader, from) = (log.reader()?, TopicPartition::new(topic, 0));
        Self::read(|next| reader.read(&from, next, AT_ONCE))
    }

    /// The watch rules that count: those of the settings below the saved ones.
    ///
    /// # Errors
    /// A later version has written rules that this one cannot read.
    pub fn in_force(&self, settings: &Settings) -> Result<WatchRules, CommandFailure> {
        Ok(watch::configured(settings)?.below(&self.watch_rules()?))
    }

    /// The saved ones of them.
    ///
    /// # Errors
    /// A later version has written rules that this one cannot read.
    pub fn watch_rules(&self) -> Result<Vec<WatchRule>, CommandFailure> {
        watch::saved(self.text()).map_err(|faults| unreadable(&faults))
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &RuleSet> {
        self.0.iter()
    }

    /// The set that counts.
    pub fn newest(&self) -> Option<&RuleSet> {
        self.0.last()
    }

    /// Number of the set that counts; 0 without.
    pub fn number(&self) -> i64 {
        self.newest().map_or(0, |set| set.number)
    }

    /// The rules that count.
    ///
    /// # Errors
    /// A later version has written rules that this one cannot read.
    pub fn rules(&self) -> Result<Vec<Rule>, CommandFailure> {
        self.newest().map_or(Ok(Vec::new()), |set| read_saved_rules(&set.text).map_err(|faults| unreadable(&faults)))
    }

    /// The intervals that the saved rules order.
    ///
    /// # Errors
    /// A later version has written rules that this one cannot read.
    pub fn crawl_rules(&self) -> Result<Scope, CommandFailure> {
        scope::saved(self.text()).map_err(|faults| unreadable(&faults))
    }

    /// The text of the rules that count; empty without.
    fn text(&self) -> &str {
        self.newest().map_or("", |set| &set.text)
    }
}

fn unreadable(problem: &dyn Display) -> CommandFailure {
    CommandFailure::World(format!("cannot read the saved rules on {}: {problem}", topics::RULE_SETS.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sets_are_kept_and_the_newest_counts() {
        let mut sets = RuleSets::default();
        let text =
            |number: i64| format!("[[rules]]\nname = \"rule {number}\"\npages = [\"a.test\"]\nwatch = [\"p\"]\n");
        for number in [2, 1, 3, 24, 5, 24] {
            let set = RuleSet { number, text: text(number), ..RuleSet::default() };
            sets.take(Some(&set.encode())).unwrap();
        }
        assert_eq!(sets.iter().map(|set| set.number).collect::<Vec<_>>(), [5, 24]);
        assert_eq!(sets.rules().unwrap()[0].shown_name(), "rule 24");
        sets.take(None).unwrap();
        assert!(sets.take(Some(b"x")).is_err());
        assert_eq!(sets.number(), 24);
    }

    #[test]
    fn rules_know_the_set_that_they_were_made_from() {
        let text = "# after 7\n[[rules]]\nname = \"lamp\"\npages = [\"a.test\"]\nwatch = [\".price\"]\n";
        let new = NewRules::read(text).unwrap();
        assert_eq!((new.after, new.names().collect::<Vec<_>>()), (Some(7), vec!["lamp".to_owned()]));
        assert_eq!(NewRules::read(&new.text()).unwrap(), new);
        for wrong in [".price[", "price"] {
            assert!(NewRules::read(&text.replace(".price", wrong)).is_err(), "{wrong}");
        }
        assert!(NewRules::read(&text.replace("a.test", "regex:(")).is_err());
        assert!(NewRules::read(&text.replace("# after 7", "# after x")).is_err());
        assert_eq!(NewRules::read(&format!("# of the shop\n\n{text}")).unwrap().after, Some(7));
        assert!(NewRules::read(" \n").is_err() && NewRules::read("# after 0\n").is_ok());
    }
}
