//! The topics that the settings name.

use crate::{MAX_TOPICS, Segmenter, Topic, TopicFault, class, read_topic};
use settings::{Faults, Origin, SettingFault, Settings, TextFile, WantedTopic};

/// The topics of these settings, in their order.
///
/// # Errors
/// Returns every line of a file that is wrong, topics of one name, and those beyond [`MAX_TOPICS`].
pub fn configured(settings: &Settings, segmenter: &dyn Segmenter) -> Result<Vec<Topic>, Faults> {
    let (mut topics, mut faults) = (Vec::<Topic>::new(), Vec::new());
    for wanted in &settings.wanted {
        let (topic, at) =
            match wanted {
                WantedTopic::Class(name) => match class(name, segmenter) {
                    Some(topic) => (topic, None),
                    None => {
                        let problem = format!("there is no class {name:?}");
                        faults.push(fault(None, problem, "recrawl topic list names them"));
                        continue;
                    }
                },
                WantedTopic::File(TextFile { name, text }) => match read_topic(text, segmenter) {
                    Ok(topic) => (topic, Some(line(name, 1))),
                    Err(error) => {
                        let remedy = "recrawl topic list CLASS prints a topic to compare with";
                        let wrong = error.faults.into_iter();
                        faults.extend(wrong.map(|TopicFault { line: number, problem }| {
                            fault(Some(line(name, number)), problem, remedy)
                        }));
                        continue;
                    }
                },
            };
        if topics.iter().any(|known| known.name == topic.name) {
            let problem = format!("another topic is called {:?}, too", topic.name);
            faults.push(fault(at, problem, "give each topic a name of its own"));
        } else if topics.len() == MAX_TOPICS {
            let problem = format!("there are more than {MAX_TOPICS} topics");
            faults.push(fault(at, problem, "put the words of several topics into one"));
        } else {
            topics.push(topic);
        }
    }
    if faults.is_empty() { Ok(topics) } else { Err(Faults::new(faults)) }
}

fn line(name: &str, line: usize) -> Origin {
    Origin::File { layer: 0, line, name: name.to_owned() }
}

fn fault(origin: Option<Origin>, problem: String, remedy: &str) -> SettingFault {
    let key = origin.is_none().then(|| "topics.files".to_owned());
    SettingFault { origin, key, problem, remedy: remedy.to_owned() }
}
