//! `json!`: values written as JSON.

/// Builds a [`Json`](crate::Json) from JSON notation with Rust expressions as values.
///
/// `null`, `{…}` and `[…]` are JSON; everything else is an expression converted by `Json::from`. Keys
/// are string literals or, in parentheses, expressions convertible to `Text`.
///
/// ```
/// use tidehold_delta::json;
/// let count = 2u32;
/// let value = json!({ "a": [1, null, { "b": "x" }], (format!("k{count}")): count });
/// assert_eq!(value.to_string(), r#"{"a":[1,null,{"b":"x"}],"k2":2}"#);
/// ```
#[macro_export]
macro_rules! json {
    (null) => { $crate::Json::Null };
    ([ $($inner:tt)* ]) => {{
        #[allow(unused_mut)]
        let mut items = $crate::Array::new();
        $crate::json_items!(items $($inner)*);
        $crate::Json::Array(items)
    }};
    ({ $($inner:tt)* }) => {{
        #[allow(unused_mut)]
        let mut members = $crate::Object::new();
        $crate::json_members!(members $($inner)*);
        $crate::Json::Object(members)
    }};
    ($value:expr) => { $crate::Json::from($value) };
}

/// The elements of an array in [`json!`]; no use of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! json_items {
    ($to:ident) => {};
    ($to:ident null $(, $($rest:tt)*)?) => {
        $to.push_back($crate::Json::Null);
        $($crate::json_items!($to $($rest)*);)?
    };
    ($to:ident [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $to.push_back($crate::json!([ $($inner)* ]));
        $($crate::json_items!($to $($rest)*);)?
    };
    ($to:ident { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $to.push_back($crate::json!({ $($inner)* }));
        $($crate::json_items!($to $($rest)*);)?
    };
    ($to:ident $value:expr $(, $($rest:tt)*)?) => {
        $to.push_back($crate::Json::from($value));
        $($crate::json_items!($to $($rest)*);)?
    };
}

/// The members of an object in [`json!`]; no use of its own.
#[doc(hidden)]
#[macro_export]
macro_rules! json_members {
    ($to:ident) => {};
    ($to:ident $key:tt : null $(, $($rest:tt)*)?) => {
        $to.insert($key, $crate::Json::Null);
        $($crate::json_members!($to $($rest)*);)?
    };
    ($to:ident $key:tt : [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $to.insert($key, $crate::json!([ $($inner)* ]));
        $($crate::json_members!($to $($rest)*);)?
    };
    ($to:ident $key:tt : { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $to.insert($key, $crate::json!({ $($inner)* }));
        $($crate::json_members!($to $($rest)*);)?
    };
    ($to:ident $key:tt : $value:expr $(, $($rest:tt)*)?) => {
        $to.insert($key, $crate::Json::from($value));
        $($crate::json_members!($to $($rest)*);)?
    };
}
