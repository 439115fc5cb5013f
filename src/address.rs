//! The address of a request. Split by hand: the runtime has already normalized it, and a whole URL parser with its tables
//! of international names would be a tenth of the bundle.

/// Path and query as they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address<'a> {
    /// Begins with a slash, percent encoding kept.
    pub path: &'a str,
    pub query: &'a str,
}

/// Splits an absolute address.
pub fn split(url: &str) -> Address<'_> {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let local = after_scheme
        .find('/')
        .and_then(|at| after_scheme.get(at..))
        .unwrap_or("/");
    let local = local.split_once('#').map_or(local, |(before, _)| before);
    let (path, query) = local.split_once('?').unwrap_or((local, ""));
    Address { path, query }
}

/// The decoded pairs of a query.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split() {
        let check = |url, path, query| assert_eq!(split(url), Address { path, query }, "{url}");
        check("http://127.0.0.1:8787/healthz", "/healthz", "");
        check("https://h/v1/a%20b?x=1&y=?#f", "/v1/a%20b", "x=1&y=?");
        check("https://h", "/", "");
        check("https://h?x", "/", "");
        assert_eq!(
            pairs("a=1&a=%C3%A4+b&c"),
            [("a", "1"), ("a", "ä b"), ("c", "")].map(|(n, v)| (n.into(), v.into()))
        );
    }
}
