//! The state of a task beside a log that keeps it in changelogs.

use super::*;

const LOG: &str = "log-1";

fn open(data: &Path) -> Result<Box<dyn StateStore>, StoreError> {
    RocksStores::new(data, StoreMemory::default()).open(LOG, &task(0), &STORES)
}

fn contents(store: &dyn StateStore) -> Result<Contents, StoreError> {
    let mut found = Contents::new();
    scan(store, "state", &mut found)?;
    Ok(found)
}

fn apply(model: &mut Contents, write: &StoreWrite) {
    let key = [format!("state/{}/", write.store).as_bytes(), &write.key].concat();
    match &write.value {
        Some(value) => model.insert(key, value.clone()),
        None => model.remove(&key),
    };
}

/// The state of some sessions, closed, and killed; with what it held at each checkpoint.
fn make(random: &mut Pcg64) -> ([TempDir; 2], Vec<Contents>) {
    let (closed, mut killed) = (TempDir::new().unwrap(), None);
    let mut at = vec![Contents::new()];
    for session in 0..4 {
        let mut store = open(closed.path()).unwrap();
        for _ in 0..60 {
            let mut model = at.last().unwrap().clone();
            let writes = writes(random);
            writes.iter().for_each(|write| apply(&mut model, write));
            let next = Some(at.len() as u64);
            let part = StoreCheckpoint { changelog_next: next, complete_as_of: None };
            store.apply(&writes, &Checkpoint { input_next: next, stores: vec![part; STORES.len()] }).unwrap();
            at.push(model);
        }
        if session == 3 {
            let sound = |data: &Path| {
                open(data).is_ok_and(|store| contents(&*store).is_ok_and(|found| found == at[at.len() - 1]))
            };
            killed = Some(crate::common::copy_as_killed(closed.path(), sound));
        }
    }
    ([closed, killed.unwrap()], at)
}

#[test]
fn damage_to_state_beside_a_changelog_is_found_or_made_good_from_it() {
    let (origins, at) = make(&mut Pcg64::seed_from_u64(2));
    torture(&origins, 20_261_124, |data| {
        let looked = open(data).and_then(|store| {
            let checkpoint = store.checkpoint()?;
            Ok((checkpoint, contents(&*store)?))
        });
        let (checkpoint, found) = match looked {
            Ok(looked) => looked,
            Err(StoreError::Failed(what)) => return Err(format!("it cannot be got over without a human: {what}")),
            Err(StoreError::Damaged(_)) => {
                RocksStores::new(data, StoreMemory::default()).set_aside(&task(0)).unwrap();
                let anew = open(data).unwrap().checkpoint().unwrap();
                assert_eq!(anew, Checkpoint::empty(STORES.len()), "it begins anew");
                return Ok(Outcome::Refused);
            }
        };
        let next = checkpoint.input_next.unwrap_or(0);
        if found != at[next as usize] {
            return Err(format!("the contents do not fit the checkpoint {next}"));
        }
        Ok(if next as usize + 1 == at.len() { Outcome::Harmless } else { Outcome::Behind })
    });
}
