//! Tools whose input follows a grammar: plain text on the wire, an object with one text to everybody else.

use crate::message::Tool;
use indexmap::IndexMap;
use tidehold_delta::Json;

/// Grammar tools by name, with the one argument that holds their input.
pub type GrammarTools = IndexMap<String, String>;

/// The argument of tools nobody declared.
const UNKNOWN_PARAMETER: &str = "input";

/// The input of one call, turned into JSON text as it arrives.
pub(super) struct GrammarInput {
    parameter: String,
    opened: bool,
}

impl GrammarInput {
    pub(super) fn new(tools: &GrammarTools, name: &str) -> Self {
        let parameter = tools.get(name).map_or(UNKNOWN_PARAMETER, String::as_str);
        Self {
            parameter: parameter.to_owned(),
            opened: false,
        }
    }

    /// What a call shows before its first piece.
    pub(super) fn empty_arguments(&self) -> Json {
        Json::object([(self.parameter.as_str(), Json::from(""))])
    }

    /// The JSON text that a piece of input adds.
    pub(super) fn delta(&mut self, input: &str) -> String {
        if input.is_empty() {
            return String::new();
        }
        self.open() + &inside_of(input)
    }

    /// The JSON text that ends the object.
    pub(super) fn close(&mut self) -> String {
        self.open() + "\"}"
    }

    fn open(&mut self) -> String {
        if std::mem::replace(&mut self.opened, true) {
            return String::new();
        }
        format!("{{{}:\"", Json::from(&self.parameter))
    }
}

/// A text as it stands between the quotes of a JSON string.
fn inside_of(text: &str) -> String {
    let quoted = Json::from(text).to_string();
    quoted
        .get(1..quoted.len().saturating_sub(1))
        .unwrap_or_default()
        .to_owned()
}

/// The grammar of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    /// `lark` or `regex`.
    pub syntax: &'static str,
    /// The grammar itself.
    pub definition: String,
    /// The argument that holds the input.
    pub parameter: String,
}

/// The grammar a tool asks for, the first of the two notations it has. `None`: it asks for none. The error says why it
/// cannot have one.
pub fn resolve_grammar(tool: &Tool) -> Result<Option<Grammar>, String> {
    let is_grammar = |sampling: &&Json| sampling.get("type").and_then(Json::as_str) == Some("grammar");
    let Some(sampling) = tool.constrained_sampling.as_ref().filter(is_grammar) else {
        return Ok(None);
    };
    let refused = |reason: &str| {
        format!(
            "Tool \"{}\" cannot use grammar constrained sampling: {reason}.",
            tool.name
        )
    };
    let variants = sampling.get("variants").unwrap_or(&Json::Null);
    let variant = |(name, syntax): (&str, &'static str)| {
        let definition = variants
            .get(name)?
            .as_str()
            .filter(|definition| !definition.trim().is_empty())?;
        Some((syntax, definition.to_owned()))
    };
    let (syntax, definition) = [("openai_lark", "lark"), ("openai_regex", "regex")]
        .into_iter()
        .find_map(variant)
        .ok_or_else(|| refused("no supported grammar variant was provided"))?;
    let parameter = only_parameter(&tool.parameters).map_err(|reason| refused(&reason))?;
    Ok(Some(Grammar {
        syntax,
        definition,
        parameter,
    }))
}

/// The one required property of a schema, a text.
fn only_parameter(schema: &Json) -> Result<String, String> {
    if schema.get("type").and_then(Json::as_str) != Some("object") {
        return Err("grammar constrained sampling requires an object parameter schema".to_owned());
    }
    let required = schema
        .get("required")
        .and_then(Json::as_array)
        .filter(|required| required.len() == 1);
    let Some(name) = required
        .and_then(|required| required.first())
        .and_then(Json::as_str)
    else {
        return Err("grammar constrained sampling requires exactly one required string property".to_owned());
    };
    let Some(property) = schema
        .get("properties")
        .and_then(|properties| properties.get(name))
    else {
        return Err(format!(
            "grammar constrained sampling requires a properties entry for {name}"
        ));
    };
    if property.get("type").and_then(Json::as_str) != Some("string") {
        return Err(format!(
            "grammar constrained sampling property {name} must have type string"
        ));
    }
    Ok(name.to_owned())
}
