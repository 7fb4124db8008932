//! The one topic that carries several types of records.

use crate::schemas::{self, SchemaRecord};
use crate::{
    ChangeEstimate, ChangeHint, Command, DecodeError, Encoded, Fingerprint, Keyed, Message, MirrorLetter, PageLinks,
    SweepForecast,
};

/// A union of records that are told apart by the fingerprint of their schemas.
macro_rules! union_by_fingerprint {
    ($(#[$about:meta])* $Name:ident { $($(#[$about_member:meta])* $Member:ident($Record:ty),)+ }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Name {
            $($(#[$about_member])* $Member($Record),)+
        }

        impl $Name {
            /// Reads a record value of any of the types.
            pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
                let fingerprint = Fingerprint::of_single_object(bytes)?;
                $(if <$Record>::codec().fingerprint() == fingerprint {
                    return <$Record as Message>::decode(bytes).map(Self::$Member);
                })+
                // Another version wrote it, which only the record's name tells.
                match schemas::name_of(fingerprint) {
                    $(Some(<$Record>::NAME) => <$Record as Message>::decode(bytes).map(Self::$Member),)+
                    other => {
                        let readable = [$(<$Record>::codec().readable()),+].join(", ");
                        Err(match other {
                            None => DecodeError::UnknownSchema { fingerprint, readable },
                            Some(found) => {
                                DecodeError::OtherRecord { fingerprint, found: found.to_owned(), readable }
                            }
                        })
                    }
                }
            }

            /// The bytes of a record value.
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$Member(record) => Message::encode(record),)+
                }
            }
        }

        impl Encoded for $Name {
            fn encode(&self) -> Vec<u8> {
                self.encode()
            }

            fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
                Self::decode(bytes)
            }

            fn schemas() -> Vec<SchemaRecord> {
                vec![$(<$Record>::schema_record()),+]
            }
        }

        impl Keyed for $Name {
            fn key(&self) -> Vec<u8> {
                match self {
                    $(Self::$Member(record) => record.key(),)+
                }
            }
        }
    };
}

union_by_fingerprint! {
    /// What the scheduler's one input topic carries, told apart by schema fingerprint.
    SchedulerEvent {
        /// A page was looked at.
        Estimate(ChangeEstimate),
        /// Links were found.
        Links(PageLinks),
        /// An operator speaks.
        Command(Command),
        /// A page is said to have changed.
        Hint(ChangeHint),
        /// Pages are believed to have changed together.
        Sweeps(SweepForecast),
        /// Pages with the same text speak to each other.
        Letter(MirrorLetter),
    }
}
