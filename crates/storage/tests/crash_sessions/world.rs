//! Scenarios played on a session, and everything the session then answers.

use super::documents::{KINDS, Kind, MEMBER, NOW, OWN, SESSION, TASK, THEN};
use super::model::{Action, letter};
use super::scenario::Commit;
use tidehold_delta::{Draft, Json};
use tidehold_session::documents::{ForkPolicy, TheSession};
use tidehold_session::ids::{ConversationId, EntryId, ROOT_CONVERSATION_ID, TaskId};
use tidehold_session::records::{
    ConversationOwnership, DraftHead, EntryDraft, EntryRecord, TaskCreate, TaskOutcome, TaskOwnership,
    TaskState,
};
use tidehold_session::storage::{ConversationQuery, EntryQuery, ScanOrder, TaskQuery};
use tidehold_session::{Rejection, Session, SessionError, Tx};

const PAGE: usize = 7;

/// The ids behind a scenario's numbers. Ids differ between runs, their order does not.
#[derive(Clone)]
struct World {
    conversations: Vec<ConversationId>,
    entries: Vec<(u64, EntryId)>,
    tasks: Vec<TaskId>,
}

impl World {
    async fn read(session: &Session) -> Result<Self, SessionError> {
        let mut world = Self {
            conversations: Vec::new(),
            entries: Vec::new(),
            tasks: Vec::new(),
        };
        let mut cursor = None;
        loop {
            let query = ConversationQuery::default();
            let page = session.scan_conversations(&query, PAGE, cursor.as_ref()).await?;
            world
                .conversations
                .extend(page.items.iter().map(|record| record.id));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        for conversation in &world.conversations {
            for entry in transcript(session, *conversation).await? {
                world.entries.push((label(&entry), entry.id));
            }
        }
        let mut cursor = None;
        loop {
            let page = session
                .scan_tasks(&TaskQuery::default(), PAGE, cursor.as_ref())
                .await?;
            world.tasks.extend(page.items.iter().map(|task| task.id));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(world);
            }
        }
    }

    fn entry(&self, label: u64) -> EntryId {
        let found = self.entries.iter().find(|(known, _)| *known == label);
        found.expect("the scenario forks at entries that are stored").1
    }
}

/// Creates what every scenario begins with.
pub async fn begin(session: &Session) -> Result<(), SessionError> {
    match session.conversation(ROOT_CONVERSATION_ID).await? {
        Some(_) => Ok(()),
        None => {
            session
                .commit(async |tx: Tx| tx.create_root().await.map(drop))
                .await
        }
    }
}

/// Plays one commit. One that rolls back succeeds by failing with its own error.
pub async fn play(session: &Session, commit: &Commit) -> Result<(), SessionError> {
    let mut world = World::read(session).await?;
    let commit = commit.clone();
    let rolls_back = commit.rolls_back;
    let played = session
        .commit(async move |tx: Tx| {
            for action in &commit.actions {
                act(&tx, &mut world, action).await?;
            }
            match commit.rolls_back {
                true => Err(SessionError::Rejected(Rejection::Other("rolled back".into()))),
                false => Ok(()),
            }
        })
        .await;
    match played {
        Err(SessionError::Rejected(Rejection::Other(_))) if rolls_back => Ok(()),
        played => played,
    }
}

async fn act(tx: &Tx, world: &mut World, action: &Action) -> Result<(), SessionError> {
    match *action {
        Action::Append {
            conversation,
            label,
            marks,
        } => {
            let draft = EntryDraft {
                kind: "entry".into(),
                data: Some(label.into()),
                head: marks.then_some(DraftHead::Itself),
                ..EntryDraft::default()
            };
            tx.append_entry(world.conversations[conversation], draft).await?;
        }
        Action::Edit {
            conversation,
            kind,
            version,
            to,
        } => {
            let (at, token) = (world.conversations[conversation], version as usize - 1);
            let draft = match kind {
                Kind::Then => tx.doc(&THEN[token], at).await?,
                Kind::Now => tx.doc(&NOW[token], at).await?,
                Kind::Own => tx.doc(&OWN[token], at).await?,
                Kind::Member(key) => tx.member(&MEMBER[token], (at, key), Json::Null).await?,
            };
            edit(&draft, to)?;
        }
        Action::Retire { conversation, kind } => {
            let at = world.conversations[conversation];
            match kind {
                Kind::Then => tx.retire_doc(&THEN[1], at).await?,
                Kind::Now => tx.retire_doc(&NOW[1], at).await?,
                Kind::Own => tx.retire_doc(&OWN[1], at).await?,
                Kind::Member(key) => tx.retire_doc(&MEMBER[1], (at, key)).await?,
            }
        }
        Action::Fork { parent, at } => {
            let (parent, at) = (world.conversations[parent], world.entry(at));
            let child = tx
                .fork_conversation(parent, at, ConversationOwnership::Ownerless)
                .await?;
            world.conversations.push(child.id);
        }
        Action::EditSession { to } => edit(&tx.doc(&SESSION, TheSession).await?, to)?,
        Action::CreateTask { conversation } => {
            let task = TaskCreate {
                kind: "task".into(),
                version: 1,
                input: Json::Null,
                checkpoint: Json::empty_object(),
                ownership: TaskOwnership::Conversation,
                conversation_id: Some(world.conversations[conversation]),
                background: false,
                abandon_on_restart: false,
            };
            world.tasks.push(tx.create_task(task).await?);
        }
        Action::EditTask { task, to } => edit(&tx.doc(&TASK, world.tasks[task]).await?, to)?,
        Action::FinishTask { task } => {
            let record = tx.candidate_task(world.tasks[task]).await?;
            let mut record = record.expect("the scenario finishes tasks that exist");
            record.state = TaskState::Terminal {
                outcome: TaskOutcome::Completed { result: Json::Null },
            };
            tx.stage_task(record).await?;
        }
    }
    Ok(())
}

/// The same as the model's edit, on a draft.
fn edit(draft: &Draft, to: u64) -> Result<(), SessionError> {
    draft.at("n").set(to)?;
    match to % 3 {
        0 => draft.at("log").push(to)?,
        1 if !draft.at("log").is_empty()? => draft.at("log").splice(0, 1, Vec::new())?,
        _ => {}
    }
    match to % 5 {
        0 => draft.at("text").set("")?,
        _ => draft.at("text").append(letter(to).encode_utf8(&mut [0; 4]))?,
    }
    Ok(())
}

async fn transcript(
    session: &Session,
    conversation: ConversationId,
) -> Result<Vec<EntryRecord>, SessionError> {
    let query = EntryQuery {
        conversation_id: conversation,
        min_entry_id: None,
        max_entry_id: None,
        order: Some(ScanOrder::Ascending),
    };
    let (mut entries, mut cursor) = (Vec::new(), None);
    loop {
        let page = session.scan_entries(&query, PAGE, cursor.as_ref()).await?;
        entries.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            return Ok(entries);
        }
    }
}

fn label(entry: &EntryRecord) -> u64 {
    let label = entry.data.as_ref().and_then(Json::as_u64);
    label.expect("every entry of a scenario has a label")
}

/// Everything, line by line, as [`super::model::Model::lines`] writes what must be there.
pub async fn observe(session: &Session) -> Result<Vec<String>, SessionError> {
    let mut lines = Vec::new();
    let shown = |value: Option<Json>| value.map_or("none".to_owned(), |value| value.to_string());
    let world = World::read(session).await?;
    lines.push(format!(
        "session {}",
        shown(session.snapshot(&SESSION, TheSession).await?)
    ));
    for (number, id) in world.conversations.iter().enumerate() {
        let record = session.conversation(*id).await?;
        let parent = record.and_then(|record| record.parent).map(|parent| {
            let number = world
                .conversations
                .iter()
                .position(|id| *id == parent.conversation_id);
            let at = world.entries.iter().find(|(_, id)| *id == parent.at);
            (
                number.expect("parents are stored"),
                at.expect("fork points are stored").0,
            )
        });
        lines.push(format!("conversation {number} from {parent:?}"));
        let entries = transcript(session, *id).await?;
        lines.push(format!(
            "sees {:?}",
            entries.iter().map(label).collect::<Vec<_>>()
        ));
        let mark = session.latest_head_marker(*id, None).await?;
        lines.push(format!("marked {:?}", mark.map(|mark| label(&mark.entry))));
        for kind in KINDS {
            let now = match kind {
                Kind::Then => session.snapshot(&THEN[1], *id).await?,
                Kind::Now => session.snapshot(&NOW[1], *id).await?,
                Kind::Own => session.snapshot(&OWN[1], *id).await?,
                Kind::Member(key) => session.snapshot(&MEMBER[1], (*id, key)).await?,
            };
            lines.push(format!("{kind:?} {}", shown(now)));
            if kind.fork() != ForkPolicy::AsOf {
                continue;
            }
            for entry in &entries {
                let then = match kind {
                    Kind::Member(key) => session.snapshot_as_of(&MEMBER[1], (*id, key), entry.id).await?,
                    _ => session.snapshot_as_of(&THEN[1], *id, entry.id).await?,
                };
                lines.push(format!("{kind:?} at {} {}", label(entry), shown(then)));
            }
        }
    }
    for (number, id) in world.tasks.iter().enumerate() {
        let record = session.task(*id).await?;
        let state = match record.is_some_and(|record| record.is_live()) {
            true => "live",
            false => "ended",
        };
        let document = session.snapshot(&TASK, *id).await?;
        lines.push(format!("task {number} {state} {}", shown(document)));
    }
    Ok(lines)
}
