//! `POST /tools/{tool}`: the contract tools.

use super::body::object;
use super::errors::harness_error;
use super::{Answer, Session};
use crate::app::OpenSession;
use crate::frame::{Reply, Request};
use crate::protocol::{Accept, Code, Operation, OperationError, PathProblem};
use crate::streams::waiting::Format;
use futures::FutureExt;
use std::rc::Rc;
use tidehold_contract::{
    Begun, Call, CallError, Pending, ToolResult, answer_absent, answer_ended, answer_misconfigured,
};

pub async fn call(session: Session, request: &Request<Operation>, tool: &str) -> Answer {
    let call = check(tool, &request.body)?;
    let exists = session
        .harness
        .session()
        .incarnation()
        .await
        .map_err(|error| harness_error(error.into()))?;
    if exists.is_none()
        && let Some(result) = answer_absent(&call, session.harness.session().host().now())
    {
        return Ok(Reply::Json(result.to_json()));
    }
    session.harness.resume();
    let cut = answer_ended(&call, session.harness.session().host().now());
    match session
        .contract
        .begin(call)
        .await
        .map_err(|error| harness_error(error.into()))?
    {
        Begun::Settled(result) => answer(&session, &result).await,
        Begun::Pending(pending) => {
            let format = match request.call.accept {
                Accept::Json => Format::Json,
                Accept::EventStream => Format::EventStream,
            };
            let head = super::head(&session).await?;
            Ok(Reply::Waiting {
                answer: finish(session, pending, request.call.log_name()).boxed_local(),
                format,
                head,
                cut: cut.to_json().to_string(),
            })
        }
    }
}

async fn answer(session: &OpenSession, result: &ToolResult) -> Answer {
    super::written(session, result.to_json()).await
}

/// The rest of a call, after its answer began. The run goes on whether or not anyone still waits here. `None` when the
/// session ended under the wait.
async fn finish(session: Rc<OpenSession>, pending: Pending, name: String) -> Option<String> {
    match session.contract.finish(pending).await {
        Ok(result) => Some(result.to_json().to_string()),
        Err(error) => {
            worker::console_error!("{name}: a foreground call was cut: {error}");
            None
        }
    }
}

/// A broken configuration is a receipt too.
pub fn without_configuration(request: &Request<Operation>, problem: &str) -> Answer {
    match &request.call.operation {
        Operation::CallTool { tool } => {
            let call = check(tool, &request.body)?;
            let now = crate::platform::timer::now();
            Ok(Reply::Json(answer_misconfigured(&call, problem, now).to_json()))
        }
        _ => Err(OperationError::new(Code::ConfigurationInvalid, problem)),
    }
}

fn check(tool: &str, body: &str) -> Result<Call, OperationError> {
    let arguments = object(body)?;
    Call::check(tool, &arguments).map_err(|error| match error {
        CallError::UnknownTool => OperationError::not_found(),
        CallError::ArgumentsInvalid(problems) => OperationError::arguments(
            problems
                .into_iter()
                .map(|it| PathProblem {
                    path: it.path,
                    message: it.message,
                })
                .collect(),
        ),
        CallError::Session(error) => harness_error(error.into()),
    })
}
