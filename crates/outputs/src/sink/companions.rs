//! Companions of files, such as indexes.

use super::FileStore;
use super::names::NumberedNames;
use crate::encoder::FileEncoder;
use daemon::CommandFailure;
use std::collections::BTreeSet;

/// The name of what goes with a file.
pub(super) fn companion_name<E: FileEncoder>(file: &str, ending: &str) -> String {
    format!("{}{ending}", file.strip_suffix(E::ENDING).unwrap_or(file))
}

/// Makes missing companions of the complete files of an output again, in storage whose files can be read back.
pub(super) fn restore<E: FileEncoder>(
    store: &mut dyn FileStore,
    names: &NumberedNames,
    ending: &str,
) -> Result<(), CommandFailure> {
    let all: BTreeSet<String> = store.names()?.into_iter().collect();
    for file in all.iter().filter(|name| names.number_of(name).is_some()) {
        let companion = companion_name::<E>(file, ending);
        if all.contains(&companion) {
            continue;
        }
        let Some(mut content) = store.read_back(file)? else { return Ok(()) };
        let (shown, of) = (store.shown(&companion), store.shown(file));
        match E::companion_of(file, &mut *content) {
            Ok(content) => {
                store.write_companion(&companion, content)?;
                eprintln!("recrawl: {shown} was missing, and is made again of {of}");
            }
            Err(error) => eprintln!("recrawl: {shown} is missing, and cannot be made again of {of}: {error}"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::warc::WarcRecords;
    use crate::sink::Directory;
    use ::warc::{RecordId, WarcRecord, WarcRecordKind};
    use page::Timestamp;

    #[test]
    fn an_index_that_is_missing_is_made_of_its_file_and_no_other_is_touched() {
        let directory = tempfile::tempdir().expect("there is room for a test");
        let path = |name: &str| directory.path().join(name);
        let (id, at) = (RecordId::of("a"), Timestamp::from_secs(1_763_683_200));
        let record = WarcRecord::new(WarcRecordKind::Resource, id, at, "text/plain", b"abc".to_vec());
        let packed = record.with("WARC-Target-URI", "http://a.test/").pack();
        for file in ["a-20251121000000000-00001.warc.gz", "a-20251121000000000-00002.warc.gz", "b-1-1.warc.gz"] {
            std::fs::write(path(file), &packed).expect("there is room");
        }
        std::fs::write(path("a-20251121000000000-00002.cdxj"), "mine").expect("there is room");
        std::fs::write(path("a-20251121000000000-00003.warc.gz"), "damaged").expect("there is room");
        let mut store = Directory::open(directory.path(), "lock", "").expect("it is there");
        let names = NumberedNames { prefix: "a".to_owned(), ending: WarcRecords::ENDING, next: 4 };
        restore::<WarcRecords>(&mut store, &names, ".cdxj").expect("a damaged file is no failure");
        let index = std::fs::read_to_string(path("a-20251121000000000-00001.cdxj")).expect("it is made");
        assert!(index.starts_with("test,a)/ 20251121000000 {\"url\": \"http://a.test/\""), "{index}");
        assert!(index.ends_with("\"filename\": \"a-20251121000000000-00001.warc.gz\"}\n"), "{index}");
        assert_eq!(std::fs::read(path("a-20251121000000000-00002.cdxj")).expect("it is there"), b"mine");
        assert!(!path("a-20251121000000000-00003.cdxj").exists() && !path("b-1-1.cdxj").exists());
    }
}
