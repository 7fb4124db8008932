//! Publishes changes, and keeps the list of pages whose rule sees nothing.

use crate::Detector;
use crate::look::JudgedLook;
use crate::presence::leads_to;
use crate::state::{BLIND, BlindPage, PageSketch};
use change::ChangeRecord;
use messages::topics::PAGE_CHANGES;
use messages::{ChangedUnit, FetchResult, PageChange, SeedFailure, Verdict, WatchedValue};
use stream::{Context, ProcessError};
use watch::{Value, WatchRule};

impl Detector {
    /// Publishes the changes that a look shows: the page's, unless its rule wants only those that fire a trigger, and that
    /// its rule sees less or more of it. `before` and `now` are the page's state before and after the look. Returns the id of the
    /// change of the page.
    pub(crate) fn publish(
        &mut self,
        result: &FetchResult,
        look: &JudgedLook,
        rule: Option<&WatchRule>,
        (before, now): (&PageSketch, &PageSketch),
        context: &mut Context<'_>,
    ) -> Option<String> {
        let of_page = look.presence.or(look.is_news().then_some(look.verdict));
        let is_edit = matches!(of_page, Some(Verdict::Minor | Verdict::Major)) && look.watched.triggers.is_empty();
        let is_untriggered = is_edit && rule.is_some_and(WatchRule::reports_only_triggers);
        self.counts.untriggered += u64::from(is_untriggered);
        let is_repeated = is_edit && look.says_no_more_than_sight(rule);
        let of_page = of_page.filter(|_| !is_untriggered && !is_repeated);
        let has_record = of_page.is_none();
        let of_sight = look.watched.sight();
        let change_id = of_page.and_then(|_| context.output_id());
        for (verdict, has_record) in [(of_page, true), (of_sight, has_record)] {
            let Some(verdict) = verdict else { continue };
            self.counts.changes += 1;
            let record = if has_record { look.judgement.record.clone() } else { ChangeRecord::default() };
            let record = record.with_at_most(self.rules.listed_changes);
            let mut change = change_of(result, look, rule, record, context);
            (change.verdict, change.previous_seen_at) = (verdict, before.last_look_at);
            change.title = now.title.clone();
            change.preferences = now.preferences().to_decisions(result.look.fetched_at);
            change.leads_to = leads_to(&result.look, &self.rules.urls).map(ToString::to_string);
            if of_sight == Some(verdict) {
                (change.lost, change.found_again) =
                    (look.watched.news.lost.clone(), look.watched.news.found_again.clone());
                change.triggers.clear();
            }
            let value = self.rules.form.encode(&change);
            context.emit_encoded(PAGE_CHANGES, &change, value);
        }
        change_id
    }

    /// Publishes that the first request for a seed brought no page.
    pub(crate) fn publish_failure(&mut self, failure: &SeedFailure, context: &mut Context<'_>) {
        let id = context.output_id().expect("a failure is an input record");
        let change = PageChange {
            status: failure.status,
            rule: self.rules.watch.rules().find(&failure.url).map(|rule| rule.name().to_owned()),
            failure: Some(failure.kind().report().name.to_owned()),
            ..PageChange::bare(id, failure.url.clone(), Verdict::Failed, failure.failed_at)
        };
        self.counts.changes += 1;
        context.emit_encoded(PAGE_CHANGES, &change, self.rules.form.encode(&change));
    }

    /// Keeps the page on the list of those whose rule sees nothing of something, or takes it off.
    pub(crate) fn note_blind(
        &mut self,
        result: &FetchResult,
        look: &JudgedLook,
        rule: Option<&WatchRule>,
        context: &mut Context<'_>,
    ) -> Result<(), ProcessError> {
        let id = &result.look.page_id;
        let blind = match (rule, &look.watched.blind) {
            (Some(rule), Some(blind)) => Some((rule, blind)).filter(|(_, blind)| !blind.is_empty()),
            // The look shows no version, or one that may be an error in the page's place.
            (Some(_), None) => return Ok(()),
            (None, _) => None,
        };
        let known = if self.maybe_blind.contains(id) { context.get(BLIND, id)? } else { None };
        match (blind, known) {
            (Some((rule, parts)), known) => {
                self.blind_pages += u64::from(known.is_none());
                let since = known.map_or(result.look.fetched_at, |known| known.since);
                let (url, rule) = (result.look.url.clone(), rule.name().to_owned());
                self.maybe_blind.insert(*id);
                context.put(BLIND, id, &BlindPage { url, rule, since, parts: parts.clone() });
            }
            (None, Some(_)) => {
                self.blind_pages -= 1;
                context.delete(BLIND, id);
            }
            (None, None) => {
                self.maybe_blind.remove(id);
            }
        }
        Ok(())
    }
}

/// The record of a change, without its verdict.
fn change_of(
    result: &FetchResult,
    look: &JudgedLook,
    rule: Option<&WatchRule>,
    record: ChangeRecord,
    context: &Context<'_>,
) -> PageChange {
    let unit = |unit: change::ChangedUnit| ChangedUnit { before: unit.before, after: unit.after, place: unit.place };
    let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    PageChange {
        change_id: context.output_id().expect("a change follows from an input record"),
        page_id: result.look.page_id,
        url: result.look.url.clone(),
        verdict: look.verdict,
        magnitude: look.judgement.magnitude,
        seen_at: result.look.fetched_at,
        previous_seen_at: None,
        status: result.look.status,
        content_digest: result.look.validators.content_digest,
        added: record.added,
        removed: record.removed,
        links_added: record.links_added,
        links_removed: record.links_removed,
        changes: record.changes.into_iter().map(unit).collect(),
        passed_over: count(record.passed_over),
        left_out: count(record.left_out),
        content_changed: JudgedLook::differs(look.judgement.content),
        links_changed: JudgedLook::differs(look.judgement.links),
        structure_changed: JudgedLook::differs(look.judgement.structure),
        host_event: look.host_event,
        changes_last: look.judgement.changes_last,
        rule: rule.map(|rule| rule.name().to_owned()),
        triggers: look.watched.triggers.clone(),
        not_found: look.watched.not_found.clone(),
        title: None,
        values: look.watched.news.values.iter().map(value_of).collect(),
        lost: Vec::new(),
        found_again: Vec::new(),
        leads_to: None,
        looks_like: look.judgement.looks_like.map(|kind| messages::word(&kind)),
        failure: None,
        preferences: Vec::new(),
    }
}

fn value_of(value: &watch::WatchedValue) -> WatchedValue {
    let number = |side: &Option<Value>| if let Some(Value::Number(number)) = side { Some(*number) } else { None };
    let text = |side: &Option<Value>| if let Some(Value::Text(text)) = side { Some(text.clone()) } else { None };
    WatchedValue {
        watch: value.name.clone(),
        number_before: number(&value.before),
        number_after: number(&value.after),
        text_before: text(&value.before),
        text_after: text(&value.after),
        unit: value.unit.clone(),
    }
}
