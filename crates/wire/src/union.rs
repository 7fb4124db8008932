//! Unions of several message types.

/// A union of [messages](crate::Message) that are distinguished by schema fingerprint, with a conversion from each.
#[macro_export]
macro_rules! message_union {
    ($(#[$about:meta])* pub enum $Name:ident { $($(#[$about_member:meta])* $Member:ident($Record:ty),)+ }) => {
        $(#[$about])*
        pub enum $Name {
            $($(#[$about_member])* $Member($Record),)+
        }

        impl $crate::Encoded for $Name {
            fn encode_into(&self, bytes: &mut ::std::vec::Vec<u8>) {
                match self {
                    $(Self::$Member(record) => record.encode_into(bytes),)+
                }
            }

            fn decode(bytes: &[u8]) -> ::std::result::Result<Self, $crate::DecodeError> {
                let fingerprint = $crate::Fingerprint::of_single_object(bytes)?;
                $(if <$Record as $crate::Message>::codec().fingerprint() == fingerprint {
                    return <$Record as $crate::Encoded>::decode(bytes).map(Self::$Member);
                })+
                // Another version wrote it; only the record name identifies the type.
                let found = $crate::schemas::name_of(fingerprint);
                $(if found == Some(<$Record as $crate::Message>::NAME) {
                    return <$Record as $crate::Encoded>::decode(bytes).map(Self::$Member);
                })+
                let readable = [$(<$Record as $crate::Message>::codec().readable()),+].join(", ");
                Err(match found {
                    None => $crate::DecodeError::UnknownSchema { fingerprint, readable },
                    Some(found) => $crate::DecodeError::OtherRecord { fingerprint, found: found.to_owned(), readable },
                })
            }

            fn schemas() -> ::std::vec::Vec<$crate::schemas::SchemaRecord> {
                ::std::vec![$(<$Record as $crate::Message>::schema_record()),+]
            }
        }

        $(impl ::std::convert::From<$Record> for $Name {
            fn from(record: $Record) -> Self {
                Self::$Member(record)
            }
        })+
    };
}
