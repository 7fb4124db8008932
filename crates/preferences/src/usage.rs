//! The uses of a page.

use std::fmt;
use std::str::FromStr;

/// A use of a page that its owner may allow or disallow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// To hold it in an index that others can see: `noindex`.
    Index,
    /// To follow its links: `nofollow`.
    Follow,
    /// To show excerpts of it: `nosnippet`, `max-snippet:0`.
    Snippet,
    /// To show a copy of it: `noarchive`, `nocache`.
    Archive,
    /// To hold its pictures in such an index: `noimageindex`.
    ImageIndex,
    /// To offer a translation of it: `notranslate`.
    Translate,
    /// To find it for users and lead them there (draft-ietf-aipref-vocab, section 4.3).
    Search,
    /// To train generative models (section 4.1).
    TrainAi,
    /// To train them with its pictures: `noimageai`.
    TrainAiImages,
    /// To give it to a generative model as input: `ai-use` of the vocabulary (section 4.2), `ai-input` of Content Signals.
    AiInput,
    /// Text and data mining: `tdm-reservation`.
    Tdm,
}

impl Use {
    /// All uses with their names.
    pub const NAMES: [(Self, &'static str); 11] = [
        (Self::Index, "index"),
        (Self::Follow, "follow"),
        (Self::Snippet, "snippet"),
        (Self::Archive, "archive"),
        (Self::ImageIndex, "image-index"),
        (Self::Translate, "translate"),
        (Self::Search, "search"),
        (Self::TrainAi, "train-ai"),
        (Self::TrainAiImages, "train-ai-images"),
        (Self::AiInput, "ai-input"),
        (Self::Tdm, "tdm"),
    ];

    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(usage, _)| *usage == self).map_or("", |(_, name)| name)
    }

    /// The use and the wider ones it is a part of: a statement that disallows one of them disallows it.
    ///
    /// Who finds a page for users holds it in an index. To train a model is to mine text and data, as the reservation of
    /// TDMRep is read (Regulation (EU) 2024/1689, article 53(1)(c)); it says nothing of search.
    pub fn within(self) -> &'static [Self] {
        match self {
            Self::Index => &[Self::Index],
            Self::Follow => &[Self::Follow],
            Self::Snippet => &[Self::Snippet],
            Self::Archive => &[Self::Archive],
            Self::ImageIndex => &[Self::ImageIndex, Self::Index],
            Self::Translate => &[Self::Translate],
            Self::Search => &[Self::Search, Self::Index],
            Self::TrainAi => &[Self::TrainAi, Self::Tdm],
            Self::TrainAiImages => &[Self::TrainAiImages, Self::TrainAi, Self::Tdm],
            Self::AiInput => &[Self::AiInput],
            Self::Tdm => &[Self::Tdm],
        }
    }
}

impl fmt::Display for Use {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Use {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(_, name)| *name == text);
        let names = || Self::NAMES.map(|(_, name)| name).join(", ");
        found.map(|(usage, _)| *usage).ok_or_else(|| format!("{text} is no use; write some of {}", names()))
    }
}
