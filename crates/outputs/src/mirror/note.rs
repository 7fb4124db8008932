//! How far a mirror has come, noted in a file.

use crate::sink::{Directory, FileStore};
use crate::source::Cursor;
use daemon::CommandFailure;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// The remedy if a note belongs to another mirror.
const ELSEWHERE: &str = "give this mirror its own --cursor-file";

/// The file. One process has it at a time.
pub struct MirrorNote {
    directory: Directory,
    name: String,
    content: Content,
}

/// The place of a copy in the order in which all are read: by partition, then by page id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyPlace {
    pub partition: u32,
    /// 32 hexadecimal digits.
    pub page_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Content {
    /// The mirror, its topic with its prefix, and the pages that are wanted there. A cursor means nothing elsewhere.
    to: String,
    topic: String,
    selection: String,
    /// The position in the changes before the first copy was read. Null: no copies are read yet.
    begin: Option<String>,
    /// The last copy that the mirror has for sure. Null: none, or all.
    copied: Option<String>,
    /// Position behind the last change that the mirror has for sure. Null: it does not have all copies yet.
    cursor: Option<String>,
    /// The index that is filled beside the one in use.
    rebuild: Option<String>,
}

impl MirrorNote {
    /// Reads the note in a file, which is created with the first progress.
    ///
    /// # Errors
    /// The file cannot be read, is of another mirror, or another process has it.
    pub fn open(file: &Path, to: &str, topic: &str, selection: &str) -> Result<Self, CommandFailure> {
        let name = file.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| {
            CommandFailure::Input(format!("--cursor-file {}: give the name of a file", file.display()))
        })?;
        let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut directory = Directory::open_private(directory.unwrap_or(Path::new(".")), name, ELSEWHERE)?;
        let [to, topic, selection] = [to, topic, selection].map(str::to_owned);
        let empty = Content { to, topic, selection, begin: None, copied: None, cursor: None, rebuild: None };
        let content = match directory.read_note(name)? {
            None => empty,
            Some(bytes) => checked(&bytes, &empty)
                .map_err(|problem| CommandFailure::Input(format!("{}: {problem}", directory.shown(name))))?,
        };
        Ok(Self { directory, name: name.to_owned(), content })
    }

    /// Where it is, for people.
    pub fn shown(&self) -> String {
        self.directory.shown(&self.name)
    }

    /// The position in the changes before the first copy was read.
    pub fn begin(&self) -> Option<Cursor> {
        self.content.begin.as_deref().and_then(|cursor| cursor.parse().ok())
    }

    /// The last copy that the mirror has for sure.
    pub fn copied(&self) -> Option<CopyPlace> {
        self.content.copied.as_deref().and_then(|place| place.parse().ok())
    }

    /// Position behind the last change that the mirror has for sure. `None`: it does not have all copies yet.
    pub fn cursor(&self) -> Option<Cursor> {
        self.content.cursor.as_deref().and_then(|cursor| cursor.parse().ok())
    }

    /// The index that is filled beside the one in use.
    pub fn rebuild(&self) -> Option<&str> {
        self.content.rebuild.as_deref()
    }

    /// Begins again with all copies, and with another index if there is one.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn begins_anew(&mut self, rebuild: Option<String>) -> Result<(), CommandFailure> {
        self.write(Content { begin: None, copied: None, cursor: None, rebuild, ..self.content.clone() })
    }

    /// Copies are read from now on, and then the changes from this position.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn begins_copies(&mut self, begin: &Cursor) -> Result<(), CommandFailure> {
        self.write(Content { begin: Some(begin.to_string()), ..self.content.clone() })
    }

    /// The mirror has all copies up to this place.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn has_copies_to(&mut self, place: &CopyPlace) -> Result<(), CommandFailure> {
        self.write(Content { copied: Some(place.to_string()), ..self.content.clone() })
    }

    /// The mirror has all changes before this position.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn has_changes_to(&mut self, cursor: &Cursor) -> Result<(), CommandFailure> {
        self.write(Content { cursor: Some(cursor.to_string()), copied: None, ..self.content.clone() })
    }

    /// The new index is the one in use.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn is_rebuilt(&mut self) -> Result<(), CommandFailure> {
        self.write(Content { rebuild: None, ..self.content.clone() })
    }

    fn write(&mut self, content: Content) -> Result<(), CommandFailure> {
        if content != self.content {
            let text = serde_json::to_string(&content).expect("texts are JSON");
            self.directory.write_note(&self.name, &text)?;
            self.content = content;
        }
        Ok(())
    }
}

/// The content of a file, if it is of this mirror.
fn checked(bytes: &[u8], expected: &Content) -> Result<Content, String> {
    let again = format!("{ELSEWHERE}, or delete it to begin again");
    let content: Content = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is not the progress of a mirror ({error}); {again}"))?;
    for (noun, found, wanted) in [
        ("mirror", &content.to, &expected.to),
        ("topic", &content.topic, &expected.topic),
        ("selection", &content.selection, &expected.selection),
    ] {
        if found != wanted {
            return Err(format!("it is of the {noun} \"{found}\", and this one is \"{wanted}\"; {again}"));
        }
    }
    let cursors =
        [&content.begin, &content.cursor].into_iter().flatten().map(|cursor| cursor.parse::<Cursor>().map(drop));
    let places = content.copied.iter().map(|place| place.parse::<CopyPlace>().map(drop));
    cursors.chain(places).collect::<Result<(), _>>().map_err(|problem| format!("{problem}; {again}"))?;
    Ok(content)
}

impl fmt::Display for CopyPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.partition, self.page_id)
    }
}

impl FromStr for CopyPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('.').and_then(|(partition, id)| Some((partition.parse().ok()?, id)));
        let (partition, id) = parts.ok_or_else(|| format!("{text} is no place of a copy"))?;
        Ok(Self { partition, page_id: id.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_back_and_belongs_to_one_mirror_topic_and_selection() {
        let directory = tempfile::tempdir().expect("there is room for a test");
        let file = directory.path().join("mirror.cursor");
        let open = |to: &str, topic: &str, selection: &str| MirrorNote::open(&file, to, topic, selection);
        let mine = || open("solr", "changes", "all").expect("it is of this mirror");
        let mut note = mine();
        assert_eq!((note.begin(), note.copied(), note.cursor(), note.rebuild()), (None, None, None, None));
        let begin: Cursor = "1.2".parse().expect("a cursor");
        let place = CopyPlace { partition: 1, page_id: "0f".repeat(16) };
        note.begins_copies(&begin).expect("there is room");
        note.has_copies_to(&place).expect("there is room");
        drop(note);
        let mut note = mine();
        assert_eq!((note.begin(), note.copied(), note.cursor()), (Some(begin.clone()), Some(place), None));
        let next: Cursor = "1.7".parse().expect("a cursor");
        note.has_changes_to(&next).expect("there is room");
        drop(note);
        let mut note = mine();
        assert_eq!((note.copied(), note.cursor()), (None, Some(next)));
        note.begins_anew(Some("pages-1".to_owned())).expect("there is room");
        assert_eq!((note.begin(), note.cursor(), note.rebuild()), (None, None, Some("pages-1")));
        drop(note);
        for (to, topic, selection) in
            [("other", "changes", "all"), ("solr", "other", "all"), ("solr", "changes", "other")]
        {
            let problem = open(to, topic, selection).err().expect("it is of another").to_string();
            assert!(problem.contains("\"other\"") && problem.contains(ELSEWHERE), "{problem}");
        }
        for bad in [
            "{}",
            r#"{"to":"solr","topic":"changes","selection":"all","copied":"x","begin":null,"cursor":null,"rebuild":null}"#,
        ] {
            std::fs::write(&file, bad).expect("it can be written");
            let problem = open("solr", "changes", "all").err().expect("it is damaged").to_string();
            assert!(problem.contains("delete it to begin again"), "{problem}");
        }
    }

    #[test]
    fn copies_are_in_the_order_of_partitions_and_then_of_ids() {
        let place = |partition, id: &str| CopyPlace { partition, page_id: id.to_owned() };
        assert!(place(2, "ff") < place(10, "00") && place(2, "0f") < place(2, "a0"));
        assert_eq!("2.0f".parse(), Ok(place(2, "0f")));
        assert!("2".parse::<CopyPlace>().is_err() && "x.0f".parse::<CopyPlace>().is_err());
    }
}
