//! What the attributes of a type, a variant and a field say.

use crate::case::Case;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, ExprPath, LitStr};

/// Of the type.
#[derive(Default)]
pub struct Container {
    pub case: Case,
    /// `rename_all_fields`: of the fields of all variants.
    pub field_case: Case,
    /// Absent fields come from the type's `Default`.
    pub default: bool,
    pub deny_unknown: bool,
    pub tag: Option<String>,
    pub untagged: bool,
}

/// Of a variant.
#[derive(Default)]
pub struct Variant {
    pub name: Option<String>,
    pub field_case: Option<Case>,
}

/// Of a field.
#[derive(Default)]
pub struct Field {
    pub name: Option<String>,
    /// Absent: the `Default` of its type.
    pub default: bool,
    pub flatten: bool,
    pub with: Option<ExprPath>,
}

fn each(
    attributes: &[Attribute],
    mut read: impl FnMut(&ParseNestedMeta) -> syn::Result<()>,
) -> syn::Result<()> {
    for attribute in attributes {
        if attribute.path().is_ident("serde") || attribute.path().is_ident("json") {
            attribute.parse_nested_meta(|meta| read(&meta))?;
        }
    }
    Ok(())
}

fn text(meta: &ParseNestedMeta) -> syn::Result<LitStr> {
    meta.value()?.parse()
}

fn unknown(meta: &ParseNestedMeta) -> syn::Error {
    meta.error("FromJson does not know this attribute")
}

impl Container {
    pub fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut found = Self::default();
        each(attributes, |meta| {
            if meta.path.is_ident("rename_all") {
                found.case = Case::parse(&text(meta)?)?;
            } else if meta.path.is_ident("rename_all_fields") {
                found.field_case = Case::parse(&text(meta)?)?;
            } else if meta.path.is_ident("default") {
                found.default = true;
            } else if meta.path.is_ident("deny_unknown_fields") {
                found.deny_unknown = true;
            } else if meta.path.is_ident("tag") {
                found.tag = Some(text(meta)?.value());
            } else if meta.path.is_ident("untagged") {
                found.untagged = true;
            } else if !meta.path.is_ident("transparent") {
                return Err(unknown(meta));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

impl Variant {
    pub fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut found = Self::default();
        each(attributes, |meta| {
            if meta.path.is_ident("rename") {
                found.name = Some(text(meta)?.value());
            } else if meta.path.is_ident("rename_all") {
                found.field_case = Some(Case::parse(&text(meta)?)?);
            } else {
                return Err(unknown(meta));
            }
            Ok(())
        })?;
        Ok(found)
    }
}

impl Field {
    pub fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut found = Self::default();
        each(attributes, |meta| {
            if meta.path.is_ident("rename") {
                found.name = Some(text(meta)?.value());
            } else if meta.path.is_ident("default") {
                found.default = true;
            } else if meta.path.is_ident("flatten") {
                found.flatten = true;
            } else if meta.path.is_ident("with") {
                found.with = Some(text(meta)?.parse()?);
            } else if meta.path.is_ident("skip_serializing_if") {
                // The writing half's business.
                text(meta)?;
            } else {
                return Err(unknown(meta));
            }
            Ok(())
        })?;
        Ok(found)
    }
}
