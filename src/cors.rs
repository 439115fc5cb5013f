//! Which pages of other origins may read answers: those that the configuration lists, none by default.

use tidehold_durable_objects::config::Config;

const METHODS: &str = "GET, POST, DELETE";
const REQUEST_HEADERS: &str = "authorization, content-type, if-incarnation, last-event-id, traceparent";
const RESPONSE_HEADERS: &str = "retry-after, x-request-id, x-stream-id";
/// How long a browser may remember a preflight: a day, which browsers shorten by themselves.
const PREFLIGHT_SECONDS: &str = "86400";

/// The headers that let a page of `origin` read the answer; none of these when it may not.
pub fn headers(config: &Config, origin: &str) -> Vec<(&'static str, String)> {
    let listed = config
        .cors
        .origins
        .iter()
        .any(|known| known == "*" || known == origin);
    if !listed {
        // Another origin may get another answer, wherever one is listed.
        let varies = !config.cors.origins.is_empty();
        return varies
            .then(|| ("vary", "Origin".to_owned()))
            .into_iter()
            .collect();
    }
    vec![
        ("access-control-allow-origin", origin.to_owned()),
        ("access-control-expose-headers", RESPONSE_HEADERS.to_owned()),
        ("vary", "Origin".to_owned()),
    ]
}

/// The further headers of the answer to a preflight.
pub fn preflight_headers() -> [(&'static str, String); 3] {
    [
        ("access-control-allow-methods", METHODS.to_owned()),
        ("access-control-allow-headers", REQUEST_HEADERS.to_owned()),
        ("access-control-max-age", PREFLIGHT_SECONDS.to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidehold_durable_objects::config::parse;

    #[test]
    fn only_listed_origins_may_read() {
        let config = |origins: &str| {
            parse(&format!(
                r#"{{"providers": {{}}, "harnesses": {{}}, "cors": {{"origins": {origins}}}}}"#
            ))
            .unwrap()
        };
        let listed = config(r#"["https://a.example"]"#);
        assert_eq!(headers(&listed, "https://a.example")[0].1, "https://a.example");
        // A cache must not hand one origin's answer to another.
        let varies = [("vary", "Origin".to_owned())];
        assert_eq!(headers(&listed, "https://b.example"), varies);
        assert!(headers(&config("[]"), "https://a.example").is_empty());
        assert_eq!(
            headers(&config(r#"["*"]"#), "https://b.example")[0].1,
            "https://b.example"
        );
    }
}
