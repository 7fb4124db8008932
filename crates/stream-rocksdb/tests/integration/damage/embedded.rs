//! The log and the state of an embedded crawl.

use super::*;

fn open(data: &Path) -> Result<InProcessLog<EmbeddedBackend>, String> {
    let backend = EmbeddedBackend::open_during(data, Some(BOOT.to_owned())).map_err(|error| error.message)?;
    Ok(InProcessLog::new(backend))
}

fn place(partition: u32) -> TopicPartition {
    TopicPartition::new("topic", partition)
}

/// A crawl of some sessions, the last of them in the write-ahead log, closed; and one that was killed.
fn make(random: &mut Pcg64) -> [TempDir; 2] {
    let (closed, mut killed) = (TempDir::new().unwrap(), None);
    for session in 0..4 {
        let log = open(closed.path()).unwrap();
        let cleanup = Cleanup::Compact;
        let topic = TopicConfig { name: "topic".into(), partitions: PARTITIONS, cleanup, max_message_bytes: 1 << 20 };
        log.create_topics(&[topic]).unwrap();
        let stores = EmbeddedStores::new(log.backend().clone());
        for partition in 0..PARTITIONS {
            drop(stores.open(&log.id().unwrap(), &task(partition), &STORES).unwrap());
        }
        commit(&log, random);
        if session == 2 {
            log.backend().maintain(Timestamp::from_secs(9)).unwrap();
        }
        if session == 3 {
            log.backend().note_high_water().unwrap();
            let whole = contents(&log).unwrap();
            let sound = |data: &Path| open(data).is_ok_and(|log| contents(&log).is_ok_and(|found| found == whole));
            killed = Some(crate::common::copy_as_killed(closed.path(), sound));
        }
    }
    [closed, killed.unwrap()]
}

fn commit(log: &dyn Log, random: &mut Pcg64) {
    let names: Arc<[String]> = STORES.iter().map(|&name| name.to_owned()).collect();
    let (group, input) = ("group".to_owned(), "topic".to_owned());
    let mut member = log.join(&MemberSpec { group, input, transactional_id: "one".into() }).unwrap();
    member.poll(PollLimits::NONE, std::time::Duration::ZERO).unwrap();
    for number in 0..60 {
        let partition = random.random_range(0..PARTITIONS);
        let record = |random: &mut Pcg64| OutputRecord {
            to: place(random.random_range(0..PARTITIONS)),
            timestamp: Timestamp::from_secs(1),
            key: random.random_range(0..200_u32).to_be_bytes().to_vec(),
            value: Some(value(random).into()),
            trace: None,
        };
        let outputs = (0..random.random_range(1..10)).map(|_| record(random)).collect();
        let state = vec![TaskWrites { task: task(partition), stores: names.clone(), writes: writes(random) }];
        let (tasks, positions) = ([partition].into(), [(partition, Position::at(number))].into());
        member.commit(&Commit { tasks, positions, outputs, state }).unwrap();
    }
}

/// Everything a log holds, read through the seams.
fn contents(log: &InProcessLog<EmbeddedBackend>) -> Result<Contents, String> {
    let mut found = Contents::new();
    let backend = log.backend();
    let stores = EmbeddedStores::new(backend.clone());
    let id = log.id().map_err(|error| error.message)?;
    for partition in 0..PARTITIONS {
        let all = PollLimits::records(usize::MAX);
        for record in backend.read(&place(partition), 0, all).map_err(|error| error.message)? {
            let name = format!("record/{partition}/{}", record.offset);
            found.insert(name.into_bytes(), [record.key, record.value.unwrap_or_default().into()].concat());
        }
        let bounds = backend.bounds(&place(partition)).map_err(|error| error.message)?;
        found.insert(format!("bounds/{partition}").into_bytes(), format!("{bounds:?}").into_bytes());
        let position = backend.committed("group", &place(partition)).map_err(|error| error.message)?;
        found.insert(format!("position/{partition}").into_bytes(), format!("{position:?}").into_bytes());
        let store = stores.open(&id, &task(partition), &STORES).map_err(|error| error.to_string())?;
        scan(&*store, &format!("state/{partition}"), &mut found).map_err(|error| error.to_string())?;
    }
    Ok(found)
}

#[test]
fn damage_to_an_embedded_crawl_is_refused_reported_or_harmless() {
    let origins = make(&mut Pcg64::seed_from_u64(1));
    let copied = TempDir::new().unwrap();
    copy(origins[0].path(), copied.path());
    let whole = contents(&open(copied.path()).unwrap()).unwrap();
    assert!(whole.len() > 700, "{} entries", whole.len());
    torture(&origins, 20_261_123, |data| {
        let Ok(log) = open(data) else { return Ok(Outcome::Refused) };
        let reported = log.backend().opened().jump.is_some();
        let Ok(found) = contents(&log) else { return Ok(Outcome::Refused) };
        match found == whole {
            true => Ok(Outcome::Harmless),
            false if reported => Ok(Outcome::Reported),
            false => Err(format!("{} of {} entries", found.len(), whole.len())),
        }
    });
}
