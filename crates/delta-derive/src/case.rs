//! The naming rules of `rename_all`.

use syn::LitStr;

/// A naming rule; Rust's own names are the default.
#[derive(Clone, Copy, Default)]
pub enum Case {
    #[default]
    AsWritten,
    Lower,
    Camel,
    Snake,
    Kebab,
}

impl Case {
    pub fn parse(name: &LitStr) -> syn::Result<Self> {
        match name.value().as_str() {
            "lowercase" => Ok(Self::Lower),
            "camelCase" => Ok(Self::Camel),
            "snake_case" => Ok(Self::Snake),
            "kebab-case" => Ok(Self::Kebab),
            _ => Err(syn::Error::new(name.span(), "FromJson does not know this case")),
        }
    }

    /// The JSON name of a field, which is snake case in Rust.
    pub fn field(self, name: &str) -> String {
        match self {
            Self::AsWritten | Self::Lower | Self::Snake => name.to_owned(),
            Self::Kebab => name.replace('_', "-"),
            Self::Camel => {
                let mut words = name.split('_');
                let first = words.next().unwrap_or_default().to_owned();
                words.fold(first, |joined, word| joined + &capitalized(word))
            }
        }
    }

    /// The JSON name of a variant, which is Pascal case in Rust.
    pub fn variant(self, name: &str) -> String {
        match self {
            Self::AsWritten => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Camel => {
                let (first, rest) = name.split_at(usize::from(!name.is_empty()));
                first.to_ascii_lowercase() + rest
            }
            Self::Snake => separated(name, '_'),
            Self::Kebab => separated(name, '-'),
        }
    }
}

fn capitalized(word: &str) -> String {
    let (first, rest) = word.split_at(usize::from(!word.is_empty()));
    first.to_ascii_uppercase() + rest
}

fn separated(name: &str, separator: char) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !out.is_empty() {
            out.push(separator);
        }
        out.push(character.to_ascii_lowercase());
    }
    out
}
