//! Effects of the commands of operators, as they are recorded.

use crate::bench::{Bench, ELSEWHERE, SIBLING, URL};
use messages::{AuditRecord, Command, CommandKind, CommandSubject, OrderEffect, SchedulerEvent, topics};
use page::CanonicalUrl;

/// Sends a command that is part of an order.
fn give(bench: &mut Bench, order: &str, kind: CommandKind, url: &str) {
    let url = CanonicalUrl::parse(url).unwrap();
    let host = (kind.subject() == CommandSubject::Hosts).then(|| url.host());
    let site = url.site_key();
    let url = host.is_none().then_some(url);
    let (issued_at, order_id) = (bench.now(), Some(order.to_owned()));
    let command = Command { url, host, order_id, ..Command::new(kind, issued_at) };
    bench.send(site.as_str(), &SchedulerEvent::Command(command));
}

/// The sums of all effects of an order.
fn effect(bench: &Bench, order: &str) -> OrderEffect {
    let mut sum = OrderEffect::default();
    for record in bench.read(topics::AUDIT) {
        let AuditRecord::Effect(effect) = record else { panic!("the scheduler gives no orders: {record:?}") };
        if effect.order_id == order {
            assert_eq!((&*effect.stage, effect.partition), ("scheduler", 0));
            sum.commands += effect.commands;
            sum.pages += effect.pages;
            sum.hosts += effect.hosts;
            sum.unchanged += effect.unchanged;
            sum.refused.extend(effect.refused);
        }
    }
    sum
}

#[test]
fn each_command_of_an_order_has_one_recorded_effect() {
    let mut bench = Bench::new(&[]);
    // Commands, pages, hosts, and those that left all as it was.
    let steps = [
        ("seed", CommandKind::Seed, URL, (1, 1, 0, 0)),
        ("seed", CommandKind::Seed, SIBLING, (2, 2, 0, 0)),
        ("again", CommandKind::Seed, URL, (1, 0, 0, 1)),
        ("refetch", CommandKind::Refetch, URL, (1, 1, 0, 0)),
        ("pause", CommandKind::PauseHost, URL, (1, 0, 1, 0)),
        ("pause again", CommandKind::PauseHost, URL, (1, 0, 0, 1)),
        ("resume", CommandKind::ResumeHost, URL, (1, 0, 1, 0)),
        ("forget", CommandKind::Forget, URL, (1, 1, 0, 0)),
        ("forget again", CommandKind::Forget, URL, (1, 0, 0, 1)),
        ("block", CommandKind::BlockHost, ELSEWHERE, (1, 0, 1, 0)),
    ];
    for (order, kind, url, expected) in steps {
        give(&mut bench, order, kind, url);
        let OrderEffect { commands, pages, hosts, unchanged, refused, .. } = effect(&bench, order);
        assert_eq!((commands, pages, hosts, unchanged), expected, "{order}");
        assert_eq!(refused, [], "{order}");
    }
    let refused = [
        ("list", CommandKind::ListedSeed, URL, "a forgotten page in a list of seeds is left out"),
        ("blocked", CommandKind::Seed, ELSEWHERE, "its host is blocked"),
        ("unknown", CommandKind::Refetch, ELSEWHERE, "the page is not known"),
    ];
    for (order, kind, url, why) in refused {
        give(&mut bench, order, kind, url);
        let OrderEffect { commands, pages, unchanged, refused, .. } = effect(&bench, order);
        assert_eq!((commands, pages, unchanged, refused.len()), (1, 0, 0, 1), "{order}");
        assert!(refused[0].reason.starts_with(why) && refused[0].commands == 1, "{refused:?}");
        assert_eq!(refused[0].first, CanonicalUrl::parse(url).unwrap().as_str());
    }
    let count = bench.read(topics::AUDIT).len();
    bench.command(CommandKind::Refetch, SIBLING, 1.0);
    assert_eq!(bench.read(topics::AUDIT).len(), count, "no effect is recorded of a command without an order");
}

#[test]
fn a_site_that_is_forgotten_in_batches_is_one_command_with_all_its_pages() {
    let mut bench = Bench::new(&[]);
    let front = CanonicalUrl::parse(URL).unwrap().host().front_page().unwrap();
    for number in 0..1_100 {
        bench.seed(&format!("{front}{number}"));
    }
    give(&mut bench, "site", CommandKind::ForgetSite, URL);
    let OrderEffect { commands, pages, unchanged, .. } = effect(&bench, "site");
    assert_eq!((commands, pages, unchanged), (1, 1_100, 0));
    assert_eq!(bench.read(topics::AUDIT).len(), 3, "one for each batch");
}

#[test]
fn effects_of_a_transaction_that_is_lost_are_recorded_once() {
    let mut bench = Bench::new(&[]);
    bench.seed(URL);
    let before = bench.read(topics::AUDIT).len();
    give(&mut bench, "forget", CommandKind::Forget, URL);
    bench.crash();
    give(&mut bench, "seed", CommandKind::Seed, URL);
    let sums = ["forget", "seed"].map(|order| effect(&bench, order)).map(|sum| (sum.commands, sum.pages));
    assert_eq!(sums, [(1, 1), (1, 1)]);
    assert_eq!(bench.read(topics::AUDIT).len(), before + 2);
}
