//! The forms in which changes are written. Readers distinguish them by the first byte.

use crate::changes::line;
use crate::{ChangeLine, PageChange, schemas};
use std::sync::LazyLock;
use wire::{Codec, DecodeError, Encoded, Message, confluent};

/// The form of the records on the topic [`PAGE_CHANGES`](crate::topics::PAGE_CHANGES). No stage reads that topic, so it
/// may have the form that its readers want.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChangeForm {
    /// An Avro single object, as on all other topics.
    #[default]
    Avro,
    /// The wire format of Confluent's clients: a zero byte, the id of the schema, the Avro datum.
    Confluent {
        /// The id that a schema registry has given to the schema.
        schema_id: u32,
    },
    /// A [`ChangeLine`] as JSON.
    Json,
}

impl ChangeForm {
    pub fn encode(self, change: &PageChange) -> Vec<u8> {
        match self {
            ChangeForm::Avro => change.encode(),
            ChangeForm::Confluent { schema_id } => {
                let mut bytes = confluent::header(schema_id).to_vec();
                PageChange::codec().encode_datum_into(change, &mut bytes);
                bytes
            }
            ChangeForm::Json => {
                serde_json::to_vec(&ChangeLine::from(change.clone())).expect("a change has no keys but texts")
            }
        }
    }
}

impl Message for PageChange {
    const NAME: &'static str = "PageChange";

    fn codec() -> &'static Codec<Self> {
        static CODEC: LazyLock<Codec<PageChange>> =
            LazyLock::new(|| schemas::codec(PageChange::NAME, include_str!("../../../../schemas/PageChange.avsc")));
        &CODEC
    }
}

/// Decodes every form, so that a topic may change its form.
impl Encoded for PageChange {
    fn encode_into(&self, bytes: &mut Vec<u8>) {
        Self::codec().encode_into(self, bytes);
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        if bytes.first() == Some(&b'{') {
            return line::decode(bytes);
        }
        let codec = Self::codec();
        let Some((id, datum)) = confluent::split(bytes) else { return codec.decode(bytes) };
        match schemas::of_registry_id(id) {
            Some(fingerprint) => codec.decode_datum(fingerprint, datum),
            None => Err(DecodeError::UnknownSchemaId { id, readable: codec.readable() }),
        }
    }

    fn schemas() -> Vec<schemas::SchemaRecord> {
        vec![Self::schema_record()]
    }
}
