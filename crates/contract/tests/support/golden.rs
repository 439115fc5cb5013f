//! Golden files: `TIDEHOLD_UPDATE_GOLDEN=1` writes them.

use std::collections::BTreeMap;
use std::path::Path;
use tidehold_delta::Json;

/// Compares with the file, or writes it.
pub fn assert_contents(path: &Path, value: &Json) {
    let value: serde_json::Value = serde_json::from_str(&value.to_string()).expect("JSON");
    let text = serde_json::to_string_pretty(&value).expect("text") + "\n";
    if std::env::var_os("TIDEHOLD_UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
        return;
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        text,
        golden,
        "{} differs; TIDEHOLD_UPDATE_GOLDEN=1 accepts",
        path.display()
    );
}

/// Takes out what another order of ids, another day or another cursor format would change.
#[derive(Default)]
pub struct Normal {
    names: BTreeMap<String, String>,
}

impl Normal {
    pub fn json(&mut self, value: &Json) -> Json {
        match value {
            Json::String(text) => Json::from(self.text(text)),
            Json::Array(items) => Json::array(items.iter().map(|item| self.json(item))),
            Json::Object(members) => Json::object(members.iter().map(|(key, value)| {
                let is_conversation = key.ends_with("onversationId");
                let value = match value {
                    Json::Number(_) if is_conversation => Json::from("<conversation>"),
                    Json::String(text) if key.ends_with("ursor") => Json::from(self.named("cursor", text)),
                    other => self.json(other),
                };
                (key.clone(), value)
            })),
            Json::Null | Json::Bool(_) | Json::Number(_) => value.clone(),
        }
    }

    fn named(&mut self, what: &str, text: &str) -> String {
        let next = self.names.values().filter(|name| name.contains(what)).count() + 1;
        self.names
            .entry(text.to_owned())
            .or_insert_with(|| format!("<{what} {next}>"))
            .clone()
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let is_part = |c: char| c.is_ascii_alphanumeric() || "_-:.".contains(c);
            let end = from.find(|c| !is_part(c)).unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            out.push_str(&self.word(word, &out.clone()));
            rest = after;
        }
        out + rest
    }

    fn word(&mut self, word: &str, before: &str) -> String {
        let is_run = word.len() == 36 && word.starts_with("run_");
        let is_time = word.len() == 24 && word.ends_with('Z') && word.contains('T');
        if is_run {
            self.named("run", word)
        } else if is_time {
            "<time>".to_owned()
        } else if before.ends_with("\"cursor\":\"") {
            self.named("cursor", word)
        } else if before.ends_with("conversation ") || before.ends_with("onversationId\":") {
            "<conversation>".to_owned()
        } else {
            word.to_owned()
        }
    }
}
