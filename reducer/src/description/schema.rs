//! JSON Schema of the format, and the check of a file's shape against it.
//!
//! The check walks the whole document, so that all unknown keys and wrong types are reported at
//! once; what passes it can be read into the types of [`mod@super::format`].

use super::fault::{Fault, FaultKind};
use super::format::File;
use super::mechanism::Origin;
use super::parameters::MAX_FAULTS;
use super::repair::{Repair, Step};
use super::suggest::closest;
use serde_json::{Map, Value};
use std::ops::Range;
use toml_edit::{Item, TableLike};

/// JSON Schema of the mechanism format, derived from the types that read it.
pub fn schema() -> Value {
    schemars::schema_for!(File).to_value()
}

/// A fault of shape.
pub(crate) struct ShapeFault {
    /// The fault.
    pub fault: Fault,
    /// Where the part of the mechanism begins that it belongs to.
    pub part: Option<Range<usize>>,
    /// How to read on.
    pub repair: Option<Repair>,
    /// Nothing can be read on.
    pub fatal: bool,
}

/// Everything in `document` that does not have the shape of the mechanism format.
pub(super) fn check(document: &Item, source: usize) -> Vec<ShapeFault> {
    check_against(&schema(), document, source)
}

/// Everything in `document` that does not have the shape that a schema asks for.
pub(crate) fn check_against(root: &Value, document: &Item, source: usize) -> Vec<ShapeFault> {
    let mut checker = Checker {
        definitions: root.get("$defs").and_then(Value::as_object),
        source,
        faults: Vec::new(),
    };
    checker.item(root, document, &Place::default());
    checker.faults
}

/// Where the walk is, in words, in bytes and in steps from the root.
#[derive(Clone, Default)]
struct Place {
    words: String,
    span: Range<usize>,
    path: Vec<Step>,
    part: Option<Range<usize>>,
}

impl Place {
    fn table(&self) -> String {
        match self.words.as_str() {
            "" => "the file".to_owned(),
            words => format!("`{words}`"),
        }
    }

    fn inner(&self, key: &str, span: Option<Range<usize>>) -> Self {
        let mut inner = self.element(span);
        if !inner.words.is_empty() {
            inner.words.push('.');
        }
        inner.words.push_str(key);
        inner.path.push(Step::Key(key.to_owned()));
        inner
    }

    fn element(&self, span: Option<Range<usize>>) -> Self {
        let mut element = self.clone();
        element.span = span.unwrap_or(element.span);
        element
    }
}

struct Checker<'a> {
    definitions: Option<&'a Map<String, Value>>,
    source: usize,
    faults: Vec<ShapeFault>,
}

impl Checker<'_> {
    /// Records a fault of the value at `place`.
    fn push(&mut self, place: &Place, kind: FaultKind) {
        let repair = Repair::removal(&place.path);
        self.record(place, place.span.clone(), kind, repair);
    }

    fn record(
        &mut self,
        place: &Place,
        span: Range<usize>,
        kind: FaultKind,
        repair: Option<Repair>,
    ) {
        if self.faults.len() >= MAX_FAULTS {
            return;
        }
        let origin = Some(Origin {
            source: self.source,
            span,
        });
        self.faults.push(ShapeFault {
            fault: Fault { origin, kind },
            part: place.part.clone(),
            repair,
            fatal: false,
        });
    }

    fn item(&mut self, schema: &Value, item: &Item, place: &Place) {
        let leaves = self.leaves(schema);
        let fitting: Vec<&Value> = leaves
            .iter()
            .copied()
            .filter(|leaf| accepts(leaf, type_name(item)))
            .collect();
        if fitting.is_empty() {
            let expected: Vec<String> = leaves.iter().filter_map(|leaf| describe(leaf)).collect();
            let mut expected: Vec<&str> = expected.iter().map(String::as_str).collect();
            expected.dedup();
            self.push(
                place,
                FaultKind::WrongType {
                    what: place.table(),
                    expected: expected.join(" or "),
                    found: found_name(item),
                },
            );
            return;
        }
        let choices: Vec<&str> = leaves.iter().flat_map(|leaf| constants(leaf)).collect();
        if let (Some(text), false) = (item.as_str(), choices.is_empty()) {
            if !choices.contains(&text) {
                let others = leaves.iter().filter(|leaf| constants(leaf).is_empty());
                let others = others.filter_map(|leaf| describe(leaf)).collect();
                self.choice(text, &choices, others, place);
            }
            return;
        }
        // Alternatives of one TOML type do not occur in the format.
        if let Some(leaf) = fitting.first() {
            self.inside(leaf, item, place);
        }
    }

    /// `others` are kinds of values that are possible besides the choices.
    fn choice(&mut self, text: &str, choices: &[&str], others: Vec<String>, place: &Place) {
        let kind = FaultKind::WrongChoice {
            what: place.table(),
            found: text.chars().take(60).collect(),
            suggestion: closest(text, choices.iter().copied()),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
            others,
        };
        self.push(place, kind);
    }

    fn inside(&mut self, schema: &Value, item: &Item, place: &Place) {
        if let Some(table) = item.as_table_like() {
            self.table(schema, table, place);
        } else if let Some(tables) = item.as_array_of_tables() {
            let Some(element) = schema.get("items") else {
                return;
            };
            for (index, table) in tables.iter().enumerate() {
                let mut inner = place.element(table.span());
                inner.path.push(Step::Index(index));
                inner.part = table.span();
                for leaf in self.leaves(element) {
                    if accepts(leaf, "object") {
                        self.table(leaf, table, &inner);
                    }
                }
            }
        } else if let Some(value) = item.as_integer() {
            let least = schema.get("minimum").and_then(Value::as_i64);
            if least.is_some_and(|least| value < least) {
                let kind = FaultKind::Negative {
                    what: place.table(),
                    value: value as f64,
                };
                self.push(place, kind);
            }
        } else if let Some(array) = item.as_array() {
            self.length(schema, array.len(), place);
            let Some(element) = schema.get("items") else {
                return;
            };
            for value in array {
                let inner = place.element(value.span());
                self.item(element, &Item::Value(value.clone()), &inner);
            }
        }
    }

    fn length(&mut self, schema: &Value, found: usize, place: &Place) {
        let bound = |key| schema.get(key).and_then(Value::as_u64);
        let (least, most) = (bound("minItems"), bound("maxItems"));
        let expected = least.or(most).unwrap_or(0) as usize;
        let short = least.is_some_and(|least| (found as u64) < least);
        let long = most.is_some_and(|most| (found as u64) > most);
        if short || long {
            self.push(
                place,
                FaultKind::WrongCount {
                    what: "the list",
                    expected,
                    found,
                },
            );
        }
    }

    fn table(&mut self, schema: &Value, table: &dyn TableLike, place: &Place) {
        let known = schema.get("properties").and_then(Value::as_object);
        let other = schema.get("additionalProperties");
        let mut meant = Vec::new();
        for (name, item) in table.iter() {
            let key_span = table.key(name).and_then(toml_edit::Key::span);
            let value_span = item.span().or_else(|| key_span.clone());
            let open = other.filter(|other| other.is_object());
            if let Some(inner) = known.and_then(|known| known.get(name)).or(open) {
                self.item(inner, item, &place.inner(name, value_span));
            } else {
                let names: Vec<String> = known
                    .map(|known| known.keys().cloned().collect())
                    .unwrap_or_default();
                let suggestion = closest(name, names.iter().map(String::as_str));
                let repair = suggestion
                    .as_ref()
                    .filter(|to| !table.contains_key(to) && !meant.contains(*to))
                    .map(|to| Repair::Rename {
                        table: place.path.clone(),
                        from: name.to_owned(),
                        to: to.clone(),
                    });
                meant.extend(suggestion.clone());
                let kind = FaultKind::UnknownKey {
                    key: name.chars().take(60).collect(),
                    table: place.table(),
                    suggestion,
                    known: names,
                };
                let span = key_span.unwrap_or_else(|| place.span.clone());
                self.record(place, span, kind, repair);
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            // A misspelt key is not missing too, and the version of the format has its own message.
            let misspelt = meant.iter().any(|meant| meant == key);
            if !table.contains_key(key) && !misspelt && key != "format" {
                let kind = FaultKind::MissingKey {
                    key: key.to_owned(),
                    table: place.table(),
                };
                self.record(place, place.span.clone(), kind, None);
            }
        }
    }

    /// The schema with references and alternatives resolved, without `null`.
    fn leaves<'s>(&self, schema: &'s Value) -> Vec<&'s Value>
    where
        Self: 's,
    {
        let mut leaves = Vec::new();
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
                let name = target.trim_start_matches("#/$defs/");
                open.extend(self.definitions.and_then(|all| all.get(name)));
                continue;
            }
            let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"));
            match alternatives.and_then(Value::as_array) {
                Some(list) => open.extend(list.iter().rev()),
                None => leaves.push(schema),
            }
        }
        leaves.retain(|leaf| leaf.get("type").and_then(Value::as_str) != Some("null"));
        leaves
    }
}

fn types(leaf: &Value) -> Vec<&str> {
    match leaf.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ if leaf.get("properties").is_some() => vec!["object"],
        _ => Vec::new(),
    }
}

fn accepts(leaf: &Value, found: &str) -> bool {
    let types = types(leaf);
    types.contains(&found) || (found == "integer" && types.contains(&"number"))
}

fn constants(leaf: &Value) -> Vec<&str> {
    match (leaf.get("const"), leaf.get("enum")) {
        (Some(Value::String(name)), _) => vec![name],
        (_, Some(Value::Array(names))) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn describe(leaf: &Value) -> Option<String> {
    if !constants(leaf).is_empty() {
        return Some("one of its names in quotes".to_owned());
    }
    let words: Vec<&str> = types(leaf)
        .into_iter()
        .filter_map(|name| match name {
            "object" => Some("a table"),
            "array" => Some("a list"),
            "string" if types(leaf).contains(&"number") => Some("an expression in quotes"),
            "string" => Some("a text in quotes"),
            "integer" => Some("a whole number"),
            "number" => Some("a number"),
            "boolean" => Some("true or false"),
            _ => None,
        })
        .collect();
    (!words.is_empty()).then(|| words.join(" or "))
}

fn type_name(item: &Item) -> &'static str {
    match item {
        Item::Table(_) => "object",
        Item::ArrayOfTables(_) => "array",
        _ if item.is_inline_table() => "object",
        _ if item.is_array() => "array",
        _ if item.is_str() => "string",
        _ if item.is_integer() => "integer",
        _ if item.is_float() => "number",
        _ if item.is_bool() => "boolean",
        _ => "other",
    }
}

fn found_name(item: &Item) -> &'static str {
    match type_name(item) {
        "object" => "a table",
        "array" => "a list",
        "string" => "a text",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        _ => "a date",
    }
}
