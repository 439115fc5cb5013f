//! Scan cursors: `{scan, order, after}`. Stateless, so a page continues strictly beyond `after` whatever was committed
//! in between.

use crate::limits::MAX_NUMBER;
use tidehold_delta::Json;
use tidehold_session::storage::{Cursor, Page, ScanOrder, StorageError};

/// Which scan a cursor belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    Conversations,
    Entries,
    Tasks,
    Submissions,
    Documents,
}

impl Scan {
    fn name(self) -> &'static str {
        match self {
            Self::Conversations => "conversations",
            Self::Entries => "entries",
            Self::Tasks => "tasks",
            Self::Submissions => "submissions",
            Self::Documents => "documents",
        }
    }
}

/// One page to read: at most `limit` ids strictly beyond `after`, in `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageRequest {
    pub(crate) scan: Scan,
    pub(crate) order: ScanOrder,
    pub(crate) after: Option<u64>,
    pub(crate) limit: usize,
}

impl PageRequest {
    /// Combines what a query asks for with its cursor, whose order continues when the query names none.
    ///
    /// # Errors
    /// [`StorageError::Request`]: a limit of 0, or a cursor that is malformed, of another scan or of another order.
    pub(crate) fn new(
        scan: Scan,
        asked: Option<ScanOrder>,
        default: ScanOrder,
        limit: usize,
        cursor: Option<&Cursor>,
    ) -> Result<Self, StorageError> {
        if limit == 0 {
            return Err(StorageError::Request("a page holds at least one item".into()));
        }
        let Some(cursor) = cursor else {
            return Ok(Self {
                scan,
                order: asked.unwrap_or(default),
                after: None,
                limit,
            });
        };
        let (order, after) = decode(scan, cursor).ok_or_else(|| {
            StorageError::Request(format!("no cursor of a scan of {}: {}", scan.name(), cursor.0))
        })?;
        if asked.is_some_and(|asked| asked != order) {
            return Err(StorageError::Request(
                "the cursor is of a scan in the other order".into(),
            ));
        }
        Ok(Self {
            scan,
            order,
            after: Some(after),
            limit,
        })
    }

    /// Exclusive start of the page as a number: what an ascending scan is above and a descending one below.
    pub(crate) fn start(&self) -> u64 {
        match self.order {
            ScanOrder::Ascending => self.after.unwrap_or(0),
            ScanOrder::Descending => self.after.unwrap_or(MAX_NUMBER + 1),
        }
    }

    /// The page of `items`, of which the last has the id `last`. A full page may have a successor.
    pub(crate) fn page<T>(&self, items: Vec<T>, last: Option<u64>) -> Page<T> {
        let next = last
            .filter(|_| items.len() >= self.limit)
            .map(|after| encode(self.scan, self.order, after));
        Page { items, next }
    }
}

fn encode(scan: Scan, order: ScanOrder, after: u64) -> Cursor {
    let members = [
        ("scan", scan.name().into()),
        ("order", order_name(order).into()),
        ("after", after.into()),
    ];
    Cursor(Json::object(members))
}

fn decode(scan: Scan, cursor: &Cursor) -> Option<(ScanOrder, u64)> {
    let members = cursor.0.as_object().filter(|members| members.len() == 3)?;
    members
        .get("scan")?
        .as_str()
        .filter(|name| *name == scan.name())?;
    let order = match members.get("order")?.as_str()? {
        "ascending" => ScanOrder::Ascending,
        "descending" => ScanOrder::Descending,
        _ => return None,
    };
    Some((order, members.get("after")?.as_u64()?))
}

fn order_name(order: ScanOrder) -> &'static str {
    match order {
        ScanOrder::Ascending => "ascending",
        ScanOrder::Descending => "descending",
    }
}
