//! The focuses that the settings name.

use crate::{Focus, FocusFault, MAX_FOCUSES, Segmenter, class, read_focus};
use settings::{Faults, Origin, SettingFault, Settings, TextFile, WantedFocus};

/// The focuses of these settings, in their order.
///
/// # Errors
/// Returns every line of a file that is wrong, focuses of one name, and those beyond [`MAX_FOCUSES`].
pub fn configured(settings: &Settings, segmenter: &dyn Segmenter) -> Result<Vec<Focus>, Faults> {
    let (mut focuses, mut faults) = (Vec::<Focus>::new(), Vec::new());
    for wanted in &settings.wanted {
        let (focus, at) =
            match wanted {
                WantedFocus::Class(name) => match class(name, segmenter) {
                    Some(focus) => (focus, None),
                    None => {
                        let problem = format!("there is no class {name:?}");
                        faults.push(fault(None, problem, "recrawl focus list names them"));
                        continue;
                    }
                },
                WantedFocus::File(TextFile { name, text }) => match read_focus(text, segmenter) {
                    Ok(focus) => (focus, Some(line(name, 1))),
                    Err(error) => {
                        let remedy = "recrawl focus list CLASS prints a focus to compare with";
                        let wrong = error.faults.into_iter();
                        faults.extend(wrong.map(|FocusFault { line: number, problem }| {
                            fault(Some(line(name, number)), problem, remedy)
                        }));
                        continue;
                    }
                },
            };
        if focuses.iter().any(|known| known.name == focus.name) {
            let problem = format!("another focus is called {:?}, too", focus.name);
            faults.push(fault(at, problem, "give each focus a name of its own"));
        } else if focuses.len() == MAX_FOCUSES {
            let problem = format!("there are more than {MAX_FOCUSES} focuses");
            faults.push(fault(at, problem, "put the words of several focuses into one"));
        } else {
            focuses.push(focus);
        }
    }
    if faults.is_empty() { Ok(focuses) } else { Err(Faults::new(faults)) }
}

fn line(name: &str, line: usize) -> Origin {
    Origin::File { layer: 0, line, name: name.to_owned() }
}

fn fault(origin: Option<Origin>, problem: String, remedy: &str) -> SettingFault {
    let key = origin.is_none().then(|| "focus.files".to_owned());
    SettingFault { origin, key, problem, remedy: remedy.to_owned() }
}
