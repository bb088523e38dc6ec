//! Values of the format: numbers that may be expressions, each with its place in the file.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, Range};

/// A value and the byte range where it is written.
#[derive(Debug, Clone)]
pub struct Located<T> {
    /// Byte range in the file.
    pub span: Range<usize>,
    /// The value.
    pub value: T,
}

impl<T> Deref for Located<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = serde_spanned::Spanned::<T>::deserialize(deserializer)?;
        Ok(Self {
            span: spanned.span(),
            value: spanned.into_inner(),
        })
    }
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A number, or an expression with parameters and units.
#[derive(Debug, Clone)]
pub enum Number {
    /// A plain number in SI units.
    Value(f64),
    /// An expression such as `"L/2"` or `"30 deg"`.
    Expression(String),
}

/// A number with its place.
pub type Scalar = Located<Number>;

/// Three numbers.
pub type Vector = Located<[Scalar; 3]>;

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberVisitor;
        impl Visitor<'_> for NumberVisitor {
            type Value = Number;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number or an expression")
            }

            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number::Value(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number::Value(value as f64))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number::Value(value as f64))
            }

            fn visit_str<E>(self, value: &str) -> Result<Number, E> {
                Ok(Number::Expression(value.to_owned()))
            }
        }
        deserializer.deserialize_any(NumberVisitor)
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number in SI units, or an expression with parameters and units, for example \"L/2\", \"30 deg\", \"3.5e6 N/m\".",
            "type": ["number", "string"]
        })
    }
}

/// One of several ways to write something; which one is told by the TOML type.
macro_rules! alternatives {
    ($(#[$doc:meta])* $name:ident, $($variant:ident($type:ty),)+ $expecting:literal, [$($visit:ident),*]) => {
        $(#[$doc])*
        #[derive(Debug, Clone, JsonSchema)]
        #[schemars(untagged)]
        pub enum $name {
            $(
                /// One way.
                $variant($type),
            )+
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct AlternativeVisitor;
                impl<'de> Visitor<'de> for AlternativeVisitor {
                    type Value = $name;

                    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                        out.write_str($expecting)
                    }

                    $(alternatives!(@$visit $name);)*
                }
                deserializer.deserialize_any(AlternativeVisitor)
            }
        }
    };
    (@name $name:ident) => {
        fn visit_str<E>(self, value: &str) -> Result<$name, E> {
            Ok($name::Name(value.to_owned()))
        }
    };
    (@number $name:ident) => {
        fn visit_f64<E>(self, value: f64) -> Result<$name, E> {
            Ok($name::Number(Number::Value(value)))
        }
        fn visit_i64<E>(self, value: i64) -> Result<$name, E> {
            Ok($name::Number(Number::Value(value as f64)))
        }
        fn visit_str<E>(self, value: &str) -> Result<$name, E> {
            Ok($name::Number(Number::Expression(value.to_owned())))
        }
    };
    (@count $name:ident) => {
        fn visit_i64<E: de::Error>(self, value: i64) -> Result<$name, E> {
            usize::try_from(value)
                .map($name::Count)
                .map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
        }
    };
    (@word $name:ident) => {
        fn visit_str<E: de::Error>(self, value: &str) -> Result<$name, E> {
            Deserialize::deserialize(de::value::StrDeserializer::new(value)).map($name::Word)
        }
    };
    (@switch $name:ident) => {
        fn visit_bool<E: de::Error>(self, value: bool) -> Result<$name, E> {
            Ok($name::Switch(value))
        }
    };
    (@table $name:ident) => {
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<$name, A::Error> {
            Deserialize::deserialize(MapAccessDeserializer::new(map)).map($name::Table)
        }
    };
    (@list $name:ident) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<$name, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = list.next_element()? {
                values.push(value);
            }
            Ok($name::List(values))
        }
    };
    (@triple $name:ident) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<$name, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = list.next_element()? {
                values.push(value);
            }
            let count = values.len();
            <[Scalar; 3]>::try_from(values)
                .map($name::Position)
                .map_err(|_| de::Error::invalid_length(count, &self))
        }
    };
}
pub(super) use alternatives;

alternatives!(
    /// A point: its name (`"crank.tip"`), or drawn coordinates.
    PointOrName,
    Name(String),
    Position([Scalar; 3]),
    "the name of a point or three numbers",
    [name, triple]
);

alternatives!(
    /// A number, or a row of numbers.
    NumberOrList,
    Number(Number),
    List(Vec<Scalar>),
    "a number or a list of numbers",
    [number, list]
);

/// A map that keeps the order of the file and the place of every key.
#[derive(Debug, Clone)]
pub struct Entries<T>(pub Vec<(Located<String>, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
            type Value = Entries<T>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Entries<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Entries_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": generator.subschema_for::<T>()
        })
    }
}
