//! The variable of the deployment.

use super::parse::{from_json, parse};
use super::{Config, ConfigError};
use std::rc::Rc;
use tidehold_delta::Json;
use wasm_bindgen::JsValue;
use worker::Env;

/// Reads and checks the variable `TIDEHOLD_CONFIG`: JSON text, or the same as a table of wrangler.toml, which arrives as
/// a JavaScript object.
pub fn from_env(env: &Env) -> Result<Rc<Config>, ConfigError> {
    let binding =
        js_sys::Reflect::get(env, &JsValue::from_str("TIDEHOLD_CONFIG")).unwrap_or(JsValue::UNDEFINED);
    if binding.is_undefined() {
        return Err(whole("the variable is not set"));
    }
    let config = match binding.as_string() {
        Some(text) => parse(&text),
        None => {
            let json: Json =
                serde_wasm_bindgen::from_value(binding).map_err(|error| whole(error.to_string()))?;
            from_json(&json)
        }
    };
    config.map(Rc::new)
}

fn whole(message: impl Into<String>) -> ConfigError {
    ConfigError {
        path: "TIDEHOLD_CONFIG".to_owned(),
        message: message.into(),
    }
}
