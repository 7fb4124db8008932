//! Stages on top of the log: nothing is lost, repeated or forgotten.

use super::faulty_log::{CommitFault, FaultyLog};
use super::ground::{ConformanceFixture, Failed, ensure, same, values};
use super::stage::{CountingStage, copy_state, key_of, put_ahead, status};
use std::collections::BTreeSet;
use std::sync::Arc;
use stream::Cleanup;
use stream::SchemaTopic;
use stream::log::Log;
use stream::{Stage as _, StepOutcome};
use wire::schemas::SchemaRecord;

pub(super) fn counts_are_exact_over_crashes_and_lost_answers(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let stage = CountingStage::new(ground, 3)?;
    let stores = ground.stores();
    let faulty = FaultyLog::new(ground.log());
    let log: Arc<dyn Log> = Arc::new(faulty.clone());
    use CommitFault::{Aborted, AnswerLost, DeadAfter, DeadBefore, None};
    faulty.plan(&[None, DeadAfter, None, Aborted, DeadBefore, None, AnswerLost, Aborted, None, DeadAfter, DeadAfter]);
    let mut runner = stage.runner(ground, &log, &stores, "one");
    let mut sent = 0;
    ground.wait("all planned faults", || {
        // A planned death stops the runner; the next one starts on the stored state.
        match runner.step() {
            Err(stopped) if stopped.message.contains("planned") => {
                drop(std::mem::replace(&mut runner, stage.runner(ground, &log, &stores, "one")));
            }
            Err(stopped) => return Err(stopped.into()),
            Ok(StepOutcome::Idle) if !faulty.is_done() => {
                stage.send(ground, 24)?;
                sent += 24;
            }
            Ok(_) => {}
        }
        Ok(faulty.is_done().then_some(()))
    })?;
    let mut runners = [runner];
    stage.drive(ground, &mut runners, sent)
}

pub(super) fn state_comes_back_from_nothing(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, log) = (CountingStage::new(ground, 2)?, ground.log());
    for round in 1..=3 {
        stage.send(ground, 30)?;
        // An empty disk each time.
        let mut runners = [stage.runner(ground, &log, &ground.stores(), "one")];
        stage.drive(ground, &mut runners, 30 * round)?;
        let restored = status(&runners[0]).restored_records_total;
        ensure((restored > 0) == (round > 1), || format!("{restored} records were restored in round {round}"))?;
    }
    Ok(())
}

pub(super) fn a_stale_copy_of_the_state_catches_up(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, log) = (CountingStage::new(ground, 2)?, ground.log());
    let (disk, copy) = (ground.stores(), ground.stores());
    let mut restored = Vec::new();
    for (round, stores) in [&disk, &disk, &copy].into_iter().enumerate() {
        stage.send(ground, 30)?;
        let mut runners = [stage.runner(ground, &log, stores, "one")];
        stage.drive(ground, &mut runners, 30 * (round + 1))?;
        restored.push(status(&runners[0]).restored_records_total);
        drop(runners);
        if round == 0 {
            (0..2).try_for_each(|partition| copy_state(&*log, &stage.task(partition), &*disk, &*copy))?;
        }
    }
    same("records restored by a sound disk", &restored[..2], &[0, 0])?;
    ensure(restored[2] > 0, || "the stale copy restored nothing".to_owned())
}

pub(super) fn state_ahead_of_its_changelog_is_not_believed(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, log, stores) = (CountingStage::new(ground, 2)?, ground.log(), ground.stores());
    for round in 1..=2 {
        (0..2).try_for_each(|partition| put_ahead(&*log, &stage.task(partition), &*stores, ground.now()))?;
        stage.send(ground, 30)?;
        stage.drive(ground, &mut [stage.runner(ground, &log, &stores, "one")], 30 * round)?;
    }
    Ok(())
}

pub(super) fn state_comes_back_after_compaction(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, log) = (CountingStage::new(ground, 1)?, ground.log());
    stage.send(ground, 60)?;
    stage.drive(ground, &mut [stage.runner(ground, &log, &ground.stores(), "one")], 60)?;
    ground.maintain(ground.now())?;
    stage.send(ground, 12)?;
    let mut runners = [stage.runner(ground, &log, &ground.stores(), "one")];
    stage.drive(ground, &mut runners, 72)?;
    // Twelve keys, and the input offset.
    same("records restored", status(&runners[0]).restored_records_total, 13)
}

pub(super) fn a_failed_restore_is_tried_again(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, faulty) = (CountingStage::new(ground, 2)?, FaultyLog::new(ground.log()));
    let log: Arc<dyn Log> = Arc::new(faulty.clone());
    for round in 1..=2 {
        faulty.fail_reads(2);
        stage.send(ground, 20)?;
        stage.drive(ground, &mut [stage.runner(ground, &log, &ground.stores(), "one")], 20 * round)?;
    }
    ensure(faulty.is_done(), || "no read failed".to_owned())
}

pub(super) fn schemas_are_written_though_the_first_question_for_them_fails(
    ground: &mut ConformanceFixture,
) -> Result<(), Failed> {
    let (mut stage, faulty) = (CountingStage::new(ground, 1)?, FaultyLog::new(ground.log()));
    let log: Arc<dyn Log> = Arc::new(faulty.clone());
    let topic = ground.topic_with("schemas", 1, Cleanup::Compact)?;
    let json = r#"{"type": "record", "name": "Own", "fields": [{"name": "a", "type": "long"}]}"#;
    let fingerprint = wire::schemas::learn(json.as_bytes(), None)?;
    let own = vec![SchemaRecord { name: "Own", fingerprint, json }];
    stage.schemas = Some(SchemaTopic { topic: topic.name.to_string(), own: own.clone(), registered: Vec::new() });
    faulty.fail_reads(1);
    stage.send(ground, 5)?;
    stage.drive(ground, &mut [stage.runner(ground, &log, &ground.stores(), "one")], 5)?;
    ensure(faulty.is_done(), || "no question failed".to_owned())?;
    ground.read_all(&topic.at(0), own.len()).map(|_| ())
}

pub(super) fn state_moves_between_instances(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, log) = (CountingStage::new(ground, 4)?, ground.log());
    let (here, there) = (ground.stores(), ground.stores());
    stage.send(ground, 48)?;
    let mut runners = vec![stage.runner(ground, &log, &here, "one")];
    stage.drive(ground, &mut runners, 48)?;
    // A second instance with its own disk.
    runners.push(stage.runner(ground, &log, &there, "other"));
    ground.wait("two partitions each", || {
        for runner in &mut runners {
            runner.step()?;
        }
        let owned: Vec<_> = runners.iter().map(|runner| status(runner).partitions).collect();
        Ok((owned[0].len() == 2 && owned[1].len() == 2).then_some(()))
    })?;
    stage.send(ground, 48)?;
    stage.drive(ground, &mut runners, 96)?;
    ensure(status(&runners[1]).processed_total > 0, || "the newcomer did nothing".to_owned())?;
    // The first one dies; the other takes over its counts.
    runners.remove(0);
    stage.send(ground, 48)?;
    stage.drive(ground, &mut runners, 144)?;
    ensure(status(&runners[0]).restored_records_total > 0, || "nothing was restored".to_owned())
}

pub(super) fn an_instance_that_goes_closes_its_state_first(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    // Both use one disk: opening a task's state before the other instance has closed it is refused.
    let (stage, log, stores) = (CountingStage::new(ground, 4)?, ground.log(), ground.stores());
    stage.send(ground, 24)?;
    let mut runners = vec![stage.runner(ground, &log, &stores, "one"), stage.runner(ground, &log, &stores, "other")];
    stage.drive(ground, &mut runners[..1], 24)?;
    ground.wait("two partitions each", || {
        for runner in &mut runners {
            runner.step()?;
        }
        Ok(runners.iter().all(|runner| status(runner).partitions.len() == 2).then_some(()))
    })?;
    let leaving = runners.remove(0);
    let mut staying = runners.remove(0);
    let (clock, deadline) = (ground.clock(), ground.deadline());
    let staying = std::thread::scope(|scope| {
        let taking_over = scope.spawn(move || {
            let began = clock.monotonic();
            while status(&staying).partitions.len() < 4 {
                staying.step()?;
                let waited = clock.monotonic().saturating_sub(began);
                ensure(waited < deadline, || "what was given back was not taken over".to_owned())?;
            }
            Ok::<_, Failed>(staying)
        });
        drop(leaving);
        taking_over.join().unwrap_or_else(|_| Err(Failed("the thread that stays panicked".to_owned())))
    })?;
    stage.send(ground, 24)?;
    stage.drive(ground, &mut [staying], 48)
}

pub(super) fn memory_is_rebuilt_after_a_rewind(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, stores, faulty) = (CountingStage::new(ground, 1)?, ground.stores(), FaultyLog::new(ground.log()));
    let log: Arc<dyn Log> = Arc::new(faulty.clone());
    faulty.plan(&[CommitFault::None, CommitFault::Aborted, CommitFault::None, CommitFault::Aborted]);
    stage.send(ground, 40)?;
    let mut runners = [stage.runner(ground, &log, &stores, "one")];
    stage.drive(ground, &mut runners, 40)?;
    let status = status(&runners[0]);
    same("failures and rejoins", (status.failures_total, status.rejoins_total), (2, 0))?;
    ensure(stage.attempts().len() > 40, || "nothing was attempted twice".to_owned())
}

pub(super) fn a_bad_record_is_set_aside_with_its_reason(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, log, stores) = (CountingStage::new(ground, 2)?, ground.log(), ground.stores());
    stage.send(ground, 10)?;
    ground.append(&[stage.input.keyed("key 0", "bad"), stage.input.keyed("key 1", "bad")])?;
    stage.send(ground, 10)?;
    let mut runners = [stage.runner(ground, &log, &stores, "one")];
    // The staged work of a bad record is rolled back: the counts go on without it.
    stage.drive(ground, &mut runners, 20)?;
    let dead_letters = ground.read_all(&stage.dead_letters.at(0), 2)?;
    same("dead letters", values(&dead_letters), vec!["counting: this one is bad".to_owned(); 2])?;
    let keys: BTreeSet<_> = dead_letters.iter().map(|dead_letter| dead_letter.key.clone()).collect();
    same("keys of dead letters", keys, [b"key 0".to_vec(), b"key 1".to_vec()].into())?;
    same("records set aside", status(&runners[0]).set_aside_total, 2)
}

pub(super) fn a_stop_commits_nothing(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, log, stores) = (CountingStage::new(ground, 1)?, ground.log(), ground.stores());
    ground.append(&[stage.input.keyed("key", "stop"), stage.input.keyed("key", "count")])?;
    let mut runner = stage.runner(ground, &log, &stores, "one");
    let stopped = ground.wait("stop", || Ok(runner.step().err()))?;
    ensure(stopped.message.contains("told to stop"), || format!("it stopped for another reason: {stopped}"))?;
    drop(runner);
    stage.check_outputs(ground, 0)?;
    let mut member = ground.join(&stage.input, "group", "look")?;
    member.own(1)?;
    same("position", member.committed(0)?, None)
}

pub(super) fn what_punctuate_sends_is_committed_once(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, stores, faulty) = (CountingStage::new(ground, 2)?, ground.stores(), FaultyLog::new(ground.log()));
    let log: Arc<dyn Log> = Arc::new(faulty.clone());
    use CommitFault::{Aborted, AnswerLost, None};
    faulty.plan(&[None, AnswerLost, None, Aborted]);
    let records: Vec<_> = (0..20).map(|number| stage.input.keyed(&format!("key {number}"), "later")).collect();
    ground.append(&records)?;
    let mut runner = stage.runner(ground, &log, &stores, "one");
    let outputs = ground.wait("ticks", || {
        let idle = runner.step()? == StepOutcome::Idle;
        let outputs: Vec<_> = if idle { stage.outputs(ground)?.concat() } else { Vec::new() };
        Ok((outputs.len() >= 40).then_some(outputs))
    })?;
    same("outputs", outputs.len(), 40)?;
    let ticked = outputs.iter().filter(|output| output.value.as_deref() == Some(b"tick"));
    let ticked: BTreeSet<_> = ticked.map(|output| output.key.clone()).collect();
    same("keys that ticked", ticked.len(), 20)
}

pub(super) fn a_broadcast_reaches_every_partition(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, log, stores) = (CountingStage::new(ground, 3)?, ground.log(), ground.stores());
    let mut one = stage.runner(ground, &log, &stores, "one");
    let mut other = stage.runner(ground, &log, &ground.stores(), "other");
    ground.wait("shares", || {
        one.step()?;
        other.step()?;
        let owned = status(&one).partitions.len() + status(&other).partitions.len();
        Ok((owned == 3 && !status(&other).partitions.is_empty()).then_some(()))
    })?;
    ground.append(&[stage.broadcast.record(0, "news", "first")])?;
    ground.append(&[stage.broadcast.record(0, "news", "second")])?;
    let expected: BTreeSet<_> = (0..3).map(|partition| format!("second received by {partition}")).collect();
    ground.wait("everybody to hear", || {
        one.step()?;
        other.step()?;
        let received: BTreeSet<_> = values(&stage.outputs(ground)?.concat()).into_iter().collect();
        Ok(expected.is_subset(&received).then_some(()))
    })
}

pub(super) fn output_ids_are_the_same_after_a_crash(ground: &mut ConformanceFixture) -> Result<(), Failed> {
    let (stage, stores, faulty) = (CountingStage::new(ground, 2)?, ground.stores(), FaultyLog::new(ground.log()));
    let log: Arc<dyn Log> = Arc::new(faulty.clone());
    faulty.plan(&[CommitFault::DeadBefore]);
    ground.append(&[stage.input.keyed(&key_of(0, 2), "count"), stage.input.keyed(&key_of(1, 2), "count")])?;
    let mut runner = stage.runner(ground, &log, &stores, "one");
    ground.wait("death", || Ok(runner.step().err().map(|_| ())))?;
    drop(runner);
    stage.drive(ground, &mut [stage.runner(ground, &log, &stores, "one")], 2)?;
    let attempts = stage.attempts();
    let distinct: BTreeSet<_> = attempts.iter().collect();
    ensure(attempts.len() > distinct.len(), || "nothing was attempted twice".to_owned())?;
    same("distinct attempts", distinct.len(), 2)?;
    for output in stage.outputs(ground)?.concat() {
        let text = values(&[output]).remove(0);
        let id = text.rsplit(' ').next().unwrap_or_default();
        ensure(attempts.iter().any(|(_, _, attempt)| attempt == id), || format!("{id} was never attempted"))?;
    }
    Ok(())
}
