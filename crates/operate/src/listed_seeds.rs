//! The list of seeds that is all that a crawl fetches, beside its state: commands that read the directory know by it which
//! pages are left out. Each start decides anew.

use crate::access::write_private;
use daemon::CommandFailure;
use page::PageId;
use scheduler::ListedSeeds;
use std::path::Path;
use std::{fs, io};

/// File in the data directory with the ids of the pages that are fetched, if only a list is.
pub const LIST_FILE: &str = "seeds-only";

/// Bytes of the id of a page.
const ID_BYTES: usize = 16;

/// Notes the list of seeds of a start in its data directory, if nothing else is fetched. Otherwise removes the note of an
/// earlier start.
///
/// # Errors
/// The file cannot be written.
pub fn note_list(data: &Path, seeds: Option<&ListedSeeds>) -> io::Result<()> {
    let file = data.join(LIST_FILE);
    match seeds.filter(|seeds| seeds.is_all()) {
        Some(seeds) => {
            let bytes: Vec<u8> = seeds.ids().iter().flat_map(|id| id.0).collect();
            write_private(&file, &bytes)
        }
        None => match fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        },
    }
}

/// The list that the last start on a data directory has noted.
///
/// # Errors
/// The file cannot be read, or is damaged.
pub(crate) fn noted_list(data: &Path) -> Result<Option<ListedSeeds>, CommandFailure> {
    let file = data.join(LIST_FILE);
    let failed = |problem: &str| {
        CommandFailure::World(format!("{}: {problem}; the next recrawl run writes it anew", file.display()))
    };
    let bytes = match fs::read(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| failed(&error.to_string()))?,
    };
    let (ids, rest) = bytes.as_chunks::<ID_BYTES>();
    match rest {
        [] => Ok(Some(ListedSeeds::new(ids.iter().copied().map(PageId), true))),
        _ => Err(failed("it is cut")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_that_is_all_is_noted_and_a_start_without_one_removes_it() {
        let data = tempfile::tempdir().unwrap();
        let list = |is_all| ListedSeeds::new([PageId([2; ID_BYTES]), PageId([1; ID_BYTES])], is_all);
        note_list(data.path(), Some(&list(true))).unwrap();
        let noted = noted_list(data.path()).unwrap().unwrap();
        assert!(noted.is_all() && noted.contains(PageId([1; ID_BYTES])) && !noted.contains(PageId([3; ID_BYTES])));
        assert_eq!(noted.ids().len(), 2);
        for seeds in [Some(list(false)), None, None] {
            note_list(data.path(), seeds.as_ref()).unwrap();
            assert!(noted_list(data.path()).unwrap().is_none());
        }
        fs::write(data.path().join(LIST_FILE), [0; ID_BYTES + 1]).unwrap();
        let failure = noted_list(data.path()).unwrap_err().to_string();
        assert!(failure.contains("it is cut"), "{failure}");
    }
}
