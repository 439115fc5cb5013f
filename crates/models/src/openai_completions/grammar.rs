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
        Self { parameter: parameter.to_owned(), opened: false }
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
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// A grammar of a tool: its notation and definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grammar {
    pub(super) syntax: &'static str,
    pub(super) definition: String,
}

/// The grammar a tool declares for these services; the first of the two notations it has.
pub(super) fn grammar_of(tool: &Tool) -> Option<Grammar> {
    let sampling = tool.constrained_sampling.as_ref()?;
    if sampling.get("type").and_then(Json::as_str) != Some("grammar") {
        return None;
    }
    let variants = sampling.get("variants")?;
    [("openai_lark", "lark"), ("openai_regex", "regex")].into_iter().find_map(|(variant, syntax)| {
        let definition = variants.get(variant)?.as_str()?.to_owned();
        Some(Grammar { syntax, definition })
    })
}

/// The one required text of a tool's schema; a grammar needs exactly that.
pub(super) fn only_parameter(tool: &Tool) -> Option<String> {
    let properties = tool.parameters.get("properties")?.as_object()?;
    let required = tool.parameters.get("required")?.as_array()?;
    let (name, schema) = properties.iter().next()?;
    let is_text = schema.get("type").and_then(Json::as_str) == Some("string");
    let alone = properties.len() == 1 && required.len() == 1;
    let is_required = required.first().and_then(Json::as_str) == Some(&**name);
    (alone && is_required && is_text).then(|| name.to_string())
}
