//! Schemas in the form that the writer uses.

use apache_avro::Schema;
use apache_avro::schema::{Name, RecordField};

/// A schema with its references resolved.
#[derive(Clone)]
pub(crate) enum Shape {
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Fixed(usize),
    Enum(Vec<String>),
    Array(Box<Shape>),
    /// A union of null, in first place, and another type.
    Optional(Box<Shape>),
    Record(String, Vec<(String, Shape)>),
}

impl Shape {
    /// # Panics
    /// On a schema with features that no message needs: schemas are part of the program.
    pub(crate) fn of(schema: &Schema) -> Self {
        Self::within(schema, &mut Vec::new())
    }

    fn within(schema: &Schema, known: &mut Vec<(Name, Shape)>) -> Self {
        let (name, shape) = match schema {
            Schema::Boolean => return Self::Boolean,
            Schema::Int => return Self::Int,
            Schema::Long | Schema::TimestampMicros => return Self::Long,
            Schema::Float => return Self::Float,
            Schema::Double => return Self::Double,
            Schema::Bytes => return Self::Bytes,
            Schema::String => return Self::String,
            Schema::Array(array) => return Self::Array(Box::new(Self::within(&array.items, known))),
            Schema::Union(union) => match union.variants() {
                [Schema::Null, some] => return Self::Optional(Box::new(Self::within(some, known))),
                _ => panic!("only unions of null and one other type are supported: {union:?}"),
            },
            Schema::Ref { name } => {
                let shape = known.iter().find(|(known, _)| known == name).map(|(_, shape)| shape.clone());
                return shape.unwrap_or_else(|| panic!("{name} contains itself; recursive types are not supported"));
            }
            Schema::Fixed(fixed) => (&fixed.name, Self::Fixed(fixed.size)),
            Schema::Enum(symbols) => (&symbols.name, Self::Enum(symbols.symbols.clone())),
            Schema::Record(record) => {
                let field = |field: &RecordField| (field.name.clone(), Self::within(&field.schema, &mut *known));
                let fields = record.fields.iter().map(field).collect();
                (&record.name, Self::Record(record.name.name().to_owned(), fields))
            }
            other => panic!("type not supported in messages: {other:?}"),
        };
        known.push((name.clone(), shape.clone()));
        shape
    }

    /// Name of the type for error messages.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Boolean => "a boolean",
            Self::Int => "an int",
            Self::Long => "a long",
            Self::Float => "a float",
            Self::Double => "a double",
            Self::Bytes => "bytes",
            Self::String => "a string",
            Self::Fixed(_) => "a fixed",
            Self::Enum(_) => "an enum",
            Self::Array(_) => "an array",
            Self::Optional(_) => "an optional value",
            Self::Record(..) => "a record",
        }
    }
}
