//! The tools of one open session: what a transport calls.

use crate::config::ContractConfig;
use crate::delegate::{self, DelegateInput, Launch};
use crate::error::{CallError, Stop};
use crate::evidence::Runs;
use crate::receipt::{Tool, ToolResult};
use crate::recent::Recent;
use crate::run_id;
use crate::runs::{self, Action, RunsInput, Step, Waiting};
use crate::schema::{Problem, check};
use crate::wire::Wire;
use std::rc::Rc;
use tidehold_delta::{Json, Text};
use tidehold_harness::Harness;
use tidehold_session::SessionError;
use tidehold_session::host::Millis;
use tidehold_session::ids::{ConversationId, TaskId};

/// The contract tools over an open harness. One a session, for as long as it is open.
pub struct Contract {
    harness: Harness,
    config: Rc<ContractConfig>,
    recent: Recent,
}

/// A checked call.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    Delegate(DelegateInput),
    Runs(RunsInput),
}

/// How far a call came at once.
pub enum Begun {
    Settled(ToolResult),
    /// It waits. Everything it had to write is committed, so that a transport may begin its answer now.
    Pending(Pending),
}

/// What a call waits for. Dropping it, or the future of [`Contract::finish`], ends the wait and nothing else.
pub struct Pending(Wait);

enum Wait {
    Run(Launched),
    Runs(Waiting),
}

/// A registered run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    pub run_id: Text,
    /// The anchor.
    pub task_id: TaskId,
    /// The child's conversation, whose events tell how it goes.
    pub conversation_id: ConversationId,
}

impl Pending {
    /// The run of a foreground delegation, for a transport that is told to cancel it.
    pub fn launched(&self) -> Option<&Launched> {
        match &self.0 {
            Wait::Run(launched) => Some(launched),
            Wait::Runs(_) => None,
        }
    }
}

impl Call {
    /// Checks the arguments of a tool against its input schema. Needs no session and touches none.
    pub fn check(tool: &str, arguments: &Json) -> Result<Self, CallError> {
        let tool = Tool::ALL
            .iter()
            .copied()
            .find(|known| known.name() == tool)
            .ok_or(CallError::UnknownTool)?;
        let problems = check(&tool.input_schema(), arguments);
        if !problems.is_empty() {
            return Err(CallError::ArgumentsInvalid(problems));
        }
        let read = match tool {
            Tool::Delegate => Wire::read(Some(arguments)).map(Self::Delegate),
            Tool::Runs => Wire::read(Some(arguments)).map(Self::Runs),
        };
        // Schema and type come from one list, so what passes one fits the other.
        let unread = || Problem {
            path: String::new(),
            message: "a number is outside the range of its member".to_owned(),
        };
        read.ok_or_else(|| CallError::ArgumentsInvalid(vec![unread()]))
    }

    /// The tool that is called.
    pub fn tool(&self) -> Tool {
        match self {
            Self::Delegate(_) => Tool::Delegate,
            Self::Runs(_) => Tool::Runs,
        }
    }
}

impl Contract {
    pub fn new(harness: Harness, config: Rc<ContractConfig>) -> Self {
        let recent = Recent::watch(harness.session());
        Self {
            harness,
            config,
            recent,
        }
    }

    /// Checks a call and sees it through.
    pub async fn call(&self, tool: &str, arguments: &Json) -> Result<ToolResult, CallError> {
        match self.begin(Call::check(tool, arguments)?).await? {
            Begun::Settled(result) => Ok(result),
            Begun::Pending(pending) => Ok(self.finish(pending).await?),
        }
    }

    /// Does everything that does not wait: reads, and the commits of a launch or a cancellation.
    pub async fn begin(&self, call: Call) -> Result<Begun, SessionError> {
        let at = self.now();
        match call {
            Call::Delegate(input) => match self.delegate(&input, at).await {
                Ok(begun) => Ok(begun),
                Err(Stop::Refused(refusal)) => Ok(Begun::Settled(delegate::refused(&refusal, at))),
                Err(Stop::Session(error)) => Err(error),
            },
            Call::Runs(input) => {
                let action = input.action;
                match self.supervise(input, at).await {
                    Ok(Step::Settled(result)) => Ok(Begun::Settled(result)),
                    Ok(Step::Waiting(waiting)) => Ok(Begun::Pending(Pending(Wait::Runs(waiting)))),
                    Err(stop) => stopped(action, stop, at).map(Begun::Settled),
                }
            }
        }
    }

    /// Waits, and answers.
    pub async fn finish(&self, pending: Pending) -> Result<ToolResult, SessionError> {
        match pending.0 {
            Wait::Run(launched) => {
                self.harness.scheduler().wait_for_task(launched.task_id).await?;
                let runs = Runs::of(&self.harness).await?;
                let run = runs.expect(launched.task_id).await?;
                delegate::settled(&runs, &run, self.now()).await
            }
            Wait::Runs(waiting) => {
                waiting.settle(&self.harness).await?;
                let at = self.now();
                let runs = Runs::of(&self.harness).await?;
                let finished = runs::finish_wait(&runs, waiting, &self.recent, at).await;
                finished.or_else(|stop| stopped(Action::Wait, stop, at))
            }
        }
    }

    async fn delegate(&self, input: &DelegateInput, at: Millis) -> Result<Begun, Stop> {
        let launch = Launch::plan(&self.config, input, at)?;
        let registered = delegate::launch(&self.harness, launch).await?;
        let task_id = registered.anchor;
        let runs = Runs::of(&self.harness).await?;
        if input.background != Some(true) {
            let run_id = run_id::of_task(task_id, &runs.incarnation).into();
            let launched = Launched {
                run_id,
                task_id,
                conversation_id: registered.conversation,
            };
            return Ok(Begun::Pending(Pending(Wait::Run(launched))));
        }
        let run = runs.expect(task_id).await?;
        Ok(Begun::Settled(delegate::accepted(&runs, &run, at).await?))
    }

    async fn supervise(&self, input: RunsInput, at: Millis) -> Result<Step, Stop> {
        let plan = runs::plan(input)?;
        let runs = Runs::of(&self.harness).await?;
        runs::perform(&runs, plan, at).await
    }

    fn now(&self) -> Millis {
        self.harness.session().host().now()
    }
}

fn stopped(action: Action, stop: Stop, at: Millis) -> Result<ToolResult, SessionError> {
    match stop {
        Stop::Refused(refusal) => Ok(runs::refused(action, &refusal, at)),
        Stop::Session(error) => Err(error),
    }
}
