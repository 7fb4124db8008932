//! The edits that make the other build: one more field in records and state. Their places are found by structure and not
//! by the lines around them.
//!
//! The field comes first in each record, so that a reader that did not go by the writer's schema would read nothing
//! right. It is always written as [`WRITTEN`]; its default in the schema is another number. Reading anything else than
//! these two is an error.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Records that get the field, with the directory in which the struct is written down and filled in.
const RECORDS: [(&str, &str); 12] = [
    ("FetchRequest", ""),
    ("Look", ""),
    ("FetchResult", ""),
    ("PageObservation", ""),
    ("ChangeEstimate", ""),
    ("PageChange", ""),
    ("PageBand", ""),
    ("PageOutLinks", ""),
    ("Command", ""),
    ("Demand", ""),
    // State.
    ("ScheduledPage", "crates/frontier"),
    ("PageBelief", "services/estimator"),
];

/// The type of the field. It is written the same whatever was read, as a new version would fill in what it knows.
const FIELD_TYPE: &str = r#"
/// A field that older versions of the record do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OfNext(i64);

impl Default for OfNext {
    fn default() -> Self {
        Self(7)
    }
}

impl serde::Serialize for OfNext {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(7)
    }
}

impl<'de> serde::Deserialize<'de> for OfNext {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match <i64 as serde::Deserialize>::deserialize(deserializer)? {
            value @ (7 | -1) => Ok(Self(value)),
            other => Err(serde::de::Error::custom(format!("of_next is {other}"))),
        }
    }
}
"#;

type Files = BTreeMap<PathBuf, String>;

/// Adds the field to each of the records.
pub(crate) fn add_fields(files: &mut Files) {
    edit(files, Path::new("crates/messages/src/lib.rs"), |text| text + FIELD_TYPE);
    for (record, home) in RECORDS {
        in_schema(files, record);
        in_struct(files, record, home);
        in_expressions(files, record, home);
    }
}

fn edit(files: &mut Files, path: &Path, change: impl FnOnce(String) -> String) {
    let text = files.get_mut(path).unwrap_or_else(|| panic!("there is no {}", path.display()));
    *text = change(std::mem::take(text));
}

fn in_schema(files: &mut Files, record: &str) {
    let name = format!("{record}.avsc");
    let mut found = files.iter_mut().filter(|(path, _)| path.file_name().is_some_and(|file| *file == *name));
    let (Some((_, text)), None) = (found.next(), found.next()) else { panic!("there is not one schema {name}") };
    let mut schema: Value = serde_json::from_str(text).expect("a schema is JSON");
    let fields = schema["fields"].as_array_mut().expect("a record has fields");
    fields.insert(0, json!({"name": "of_next", "type": "long", "default": -1, "doc": "Older versions have none."}));
    *text = schema.to_string();
}

/// Source that is compiled into the programs.
fn sources<'a>(files: &'a mut Files, home: &str) -> impl Iterator<Item = &'a mut String> {
    let is_source = move |path: &Path| {
        let is_test = path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs");
        path.extension().is_some_and(|extension| extension == "rs") && path.starts_with(home) && !is_test
    };
    files.iter_mut().filter(move |(path, _)| is_source(path)).map(|(_, text)| text)
}

fn in_struct(files: &mut Files, record: &str, home: &str) {
    let (head, mut found) = (format!("pub struct {record} {{"), 0);
    let home = if home.is_empty() { "crates/messages" } else { home };
    for text in sources(files, home) {
        found += text.matches(&head).count();
        let crate_name = if home == "crates/messages" { "crate" } else { "messages" };
        *text = text.replace(
            &head,
            &format!("{head}\n    /// Older versions have none.\n    pub of_next: {crate_name}::OfNext,"),
        );
    }
    assert_eq!(found, 1, "there is not one struct {record} in {home}");
}

/// Fills the field in wherever the struct is made and not taken over from another. A file with a private struct of that
/// name does not mean the record.
fn in_expressions(files: &mut Files, record: &str, home: &str) {
    let mut filled = 0;
    let own = format!("\nstruct {record} {{");
    for text in sources(files, home).filter(|text| !text.contains(&own)) {
        let mut places = expressions(text, record);
        for head in [format!("impl {record} {{"), format!("impl Default for {record} {{")] {
            for (start, _) in text.match_indices(&head) {
                let open = start + head.len() - 1;
                let block = open..open + block(&text[open..]).len();
                places.extend(expressions(text, "Self").into_iter().filter(|place| block.contains(place)));
            }
        }
        places.sort_unstable();
        filled += places.len();
        places.into_iter().rev().for_each(|place| text.insert_str(place, " of_next: Default::default(), "));
    }
    let is_made_by_default = record == "PageBelief";
    assert!(filled > 0 || is_made_by_default, "{record} is made nowhere");
}

/// Where the fields begin in the expressions that name all fields of a struct.
fn expressions(text: &str, name: &str) -> Vec<usize> {
    let head = format!("{name} {{");
    let is_expression = |start: usize| {
        let before = text[..start].trim_end();
        let is_other_word = text[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let introduces =
            ["let", "struct", "impl", "for", "->", "enum", "trait"].iter().any(|word| before.ends_with(word));
        let is_qualified = before.ends_with("::") && !before.ends_with("messages::") && !before.ends_with("crate::");
        !is_other_word && !introduces && !is_qualified
    };
    let found = text.match_indices(&head).map(|(start, _)| start).filter(|start| is_expression(*start));
    let opens = found.map(|start| start + head.len() - 1);
    opens.filter(|open| !takes_over(block(&text[*open..]))).map(|open| open + 1).collect()
}

/// From a brace to the one that closes it.
fn block(text: &str) -> &str {
    let mut depth = 0;
    for (place, c) in text.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if depth == 0 {
            return &text[..=place];
        }
    }
    panic!("a brace is never closed: {}", &text[..text.len().min(80)]);
}

/// Whether a struct expression ends in `..` and another value.
fn takes_over(block: &str) -> bool {
    let mut depth = 0;
    let mut last = ' ';
    for (place, c) in block.char_indices() {
        if depth == 1 && block[place..].starts_with("..") && matches!(last, ',' | '{') {
            return true;
        }
        depth += i32::from("{([".contains(c)) - i32::from("})]".contains(c));
        if !c.is_whitespace() {
            last = c;
        }
    }
    false
}

/// Gives the program a name of its own.
pub(crate) fn rename_program(files: &mut Files, suffix: &str) {
    edit(files, Path::new("services/recrawl/Cargo.toml"), |text| {
        let head = "publish.workspace = true\n";
        assert_eq!(text.matches(head).count(), 1, "the package has no head, or more than one");
        let text = text.replace(head, &format!("{head}autobins = false\n"));
        format!("{text}\n[[bin]]\nname = \"recrawl{suffix}\"\npath = \"src/main.rs\"\n")
    });
}

/// Leaves out what takes the compiler long and the test does not need. What comes from outside stays as it is compiled for
/// the other programs.
pub(crate) fn compile_quickly(files: &mut Files) {
    let members = files.iter().filter(|(path, _)| path.ends_with("Cargo.toml") && path.components().count() > 2);
    let name = |text: &str| Some(text.split_once("name = \"")?.1.split_once('"')?.0.to_owned());
    let names = members.map(|(path, text)| name(text).unwrap_or_else(|| panic!("{} has no name", path.display())));
    let names: Vec<String> = names.collect();
    edit(files, Path::new("Cargo.toml"), |mut text| {
        for name in &names {
            let head = format!("[profile.dev.package.{name}]\n");
            if let Some((before, after)) = text.split_once(&head) {
                let rest = after.split_once('\n').expect("a profile has a line").1;
                text = format!("{before}{rest}");
            }
            text += &format!("\n{head}opt-level = 0\ndebug = false\n");
        }
        text
    });
}

/// Says in the workspace that its members lie in a directory below.
pub(crate) fn move_members(files: &mut Files, directory: &str) {
    edit(files, Path::new("Cargo.toml"), |text| {
        let text = text.replace("path = \"", &format!("path = \"{directory}/"));
        ["members", "exclude"].iter().fold(text, |text, list| {
            let (before, rest) = text.split_once(&format!("{list} = [")).expect("a workspace has members");
            let (paths, after) = rest.split_once(']').expect("a list ends");
            let paths: Vec<_> = paths.split(',').map(|path| path.trim().trim_matches('"')).collect();
            let paths: Vec<_> = paths.iter().map(|path| format!("\"{directory}/{path}\"")).collect();
            format!("{before}{list} = [{}]{after}", paths.join(", "))
        })
    });
}
