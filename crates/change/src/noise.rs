//! Noise of a page: what differs from look to look without being news. It is learned, place by place.

mod dates;
mod differences;
mod durations;
mod forms;
mod learned;
mod moves;
mod places;
mod runs;
mod token_edits;
mod tokens;
mod values;

pub(crate) use self::differences::Differences;
pub(crate) use self::forms::Forms;
pub(crate) use self::learned::{ChangedUnits, LookFindings, Noise, renamed_order};
pub(crate) use self::places::Places;
pub(crate) use self::runs::LookTimes;
pub(crate) use self::values::KnownValues;
