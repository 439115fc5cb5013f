//! The thinking level in each service's dialect (models.md 12.4).

use super::compat::Compat;
use crate::model::Model;
use crate::models::ThinkingBudgets;
use crate::options::{ANSWER_TOKENS, thinking_budget};
use crate::thinking::{MappedLevel, ThinkingLevel, mapped_level};
use tidehold_delta::{Json, Object, json};

/// What the fields depend on.
pub(super) struct Thinking<'a> {
    pub(super) model: &'a Model,
    pub(super) compat: &'a Compat,
    /// The clamped level.
    pub(super) level: ThinkingLevel,
    pub(super) budgets: &'a ThinkingBudgets,
    /// Answer limit of the request.
    pub(super) max_tokens: u64,
}

impl Thinking<'_> {
    fn is_on(&self) -> bool {
        self.level != ThinkingLevel::Off
    }

    /// The service's name of the level; an unsupported one keeps its own.
    fn name(&self) -> Json {
        match mapped_level(self.model, self.level) {
            MappedLevel::Value(name) => Json::from(name),
            _ => Json::from(self.level.name()),
        }
    }

    /// The mapped value of `off`: absent when unmapped, `None` inside when unsupported.
    fn off(&self) -> MappedLevel<'_> {
        mapped_level(self.model, ThinkingLevel::Off)
    }

    /// Writes the fields into a request body.
    pub(super) fn write(&self, body: &mut Object) {
        if !self.model.reasoning {
            return;
        }
        self.write_level(body);
        if self.is_on()
            && let Some(field) = &self.compat.thinking_budget_field
        {
            let budget = self.budget();
            if budget > 0 {
                body.insert(field.as_str(), Json::from(budget));
            }
        }
    }

    fn budget(&self) -> u64 {
        thinking_budget(self.level, self.budgets).min(self.max_tokens.saturating_sub(ANSWER_TOKENS))
    }

    fn write_level(&self, body: &mut Object) {
        let on = self.is_on();
        let switch = if on { "enabled" } else { "disabled" };
        match self.compat.thinking_format.as_str() {
            "openrouter" => {
                let effort = match self.off() {
                    _ if on => Some(self.name()),
                    MappedLevel::Unsupported => None,
                    MappedLevel::Value(name) => Some(Json::from(name)),
                    MappedLevel::Unmapped => Some(Json::from("none")),
                };
                if let Some(effort) = effort {
                    body.insert("reasoning", json!({ "effort": effort }));
                }
            }
            "deepseek" => {
                if on || self.off() != MappedLevel::Unsupported {
                    body.insert("thinking", json!({ "type": switch }));
                }
                self.write_effort(body, on.then(|| self.name()));
            }
            "zai" => {
                let thinking = match on {
                    true => json!({ "type": switch, "clear_thinking": false }),
                    false => json!({ "type": switch }),
                };
                body.insert("thinking", thinking);
                let effort = match mapped_level(self.model, self.level) {
                    MappedLevel::Unsupported => None,
                    _ => Some(self.name()),
                };
                self.write_effort(body, effort.filter(|_| on));
            }
            "qwen" => {
                body.insert("enable_thinking", Json::from(on));
                self.write_effort(body, on.then(|| self.name()));
            }
            "qwen-chat-template" => {
                let kwargs = json!({ "enable_thinking": on, "preserve_thinking": true });
                body.insert("chat_template_kwargs", kwargs);
            }
            "chat-template" => {
                self.write_template(body, "chat_template_kwargs", &self.compat.chat_template_kwargs)
            }
            "baseten" => {
                self.write_template(body, "chat_template_args", &self.compat.chat_template_args);
                self.write_effort(body, self.effort_value());
            }
            "together" => {
                body.insert("reasoning", json!({ "enabled": on }));
                self.write_effort(body, on.then(|| self.name()));
            }
            "string-thinking" => {
                let thinking = match self.off() {
                    _ if on => Some(self.name()),
                    MappedLevel::Unsupported => None,
                    MappedLevel::Value(name) => Some(Json::from(name)),
                    MappedLevel::Unmapped => Some(Json::from("none")),
                };
                if let Some(thinking) = thinking {
                    body.insert("thinking", thinking);
                }
            }
            "ant-ling" if on => {
                if let MappedLevel::Value(effort) = mapped_level(self.model, self.level) {
                    body.insert("reasoning", json!({ "effort": effort }));
                }
            }
            _ => {
                let effort = match self.off() {
                    _ if on => Some(self.name()),
                    MappedLevel::Value(name) => Some(Json::from(name)),
                    _ => None,
                };
                self.write_effort(body, effort);
            }
        }
    }

    fn write_effort(&self, body: &mut Object, effort: Option<Json>) {
        if let Some(effort) = effort.filter(|_| self.compat.supports_reasoning_effort) {
            body.insert("reasoning_effort", effort);
        }
    }

    /// The level's mapped value, its own name when unmapped and on, nothing when unsupported.
    fn effort_value(&self) -> Option<Json> {
        match mapped_level(self.model, self.level) {
            MappedLevel::Value(name) => Some(Json::from(name)),
            MappedLevel::Unmapped if self.is_on() => Some(Json::from(self.level.name())),
            _ => None,
        }
    }

    /// A configured template: literals as they are, `{"$var": …}` replaced.
    fn write_template(&self, body: &mut Object, field: &str, template: &Option<Json>) {
        let entries = template
            .as_ref()
            .and_then(Json::as_object)
            .into_iter()
            .flat_map(Object::iter);
        let filled: Object = entries
            .filter_map(|(name, value)| Some((name.clone(), self.template_value(value)?)))
            .collect();
        if !filled.is_empty() {
            body.insert(field, Json::Object(filled));
        }
    }

    fn template_value(&self, value: &Json) -> Option<Json> {
        let Some(variable) = value.get("$var").and_then(Json::as_str) else {
            return Some(value.clone());
        };
        let omitted = value.get("omitWhenOff").and_then(Json::as_bool) == Some(true);
        if omitted && !self.is_on() {
            return None;
        }
        match variable {
            "thinking.enabled" => Some(Json::from(self.is_on())),
            "thinking.budget" if self.is_on() => Some(Json::from(self.budget())),
            "thinking.effort" => self.effort_value(),
            _ => None,
        }
    }
}
