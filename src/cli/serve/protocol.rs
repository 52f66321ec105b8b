//! The Model Context Protocol on stdin and stdout: which tools there are, and calls that can be cancelled.
//!
//! One call is worked on at a time, with all processors; others wait, and pings and cancellations are heard meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::stdio;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::sync::Semaphore;

use super::answer::Answer;
use super::sources::{Call, Sources};
use super::tools;
use crate::cli::exit::in_full;
use crate::cli::suggest::{did_you_mean, nearest};

/// Bytes of one message; longer ones are dropped.
const MAX_MESSAGE: usize = 1 << 20;

/// Answers until stdin ends.
///
/// # Errors
/// If the other side does not speak the protocol.
pub fn serve(sources: Sources) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().context("starting to serve")?;
    let server = Server { sources: Arc::new(sources), turn: Arc::new(Semaphore::new(1)) };
    let result = runtime.block_on(async {
        let (stdin, stdout) = stdio();
        let transport = AsyncRwTransport::new(stdin, stdout).with_max_line_length(MAX_MESSAGE);
        match server.serve(transport).await {
            Ok(running) => running.waiting().await.map(|_| ()).context("serving"),
            // Whoever leaves before the first word wants nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error).context("agreeing on the protocol"),
        }
    });
    // A call that nobody waits for any more is not waited for.
    runtime.shutdown_background();
    result
}

struct Server {
    sources: Arc<Sources>,
    /// Held by the call that is worked on.
    turn: Arc<Semaphore>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let names = self.sources.names().collect::<Vec<_>>().join(", ");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")))
            .with_instructions(format!(
                "Says what SGLang's server arguments really mean, read from the source. A claim that is `proved` rests \
                 on resolved lines of code, `inferred` on a name or a pattern; what is not known is left out. \
                 Sources: {names}"
            ))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let reads = || ToolAnnotations::new().read_only(true).destructive(false).idempotent(true).open_world(false);
        let tool = |tool: &tools::Tool| {
            let mut described = Tool::new(tool.name, tool.about, (tool.arguments)());
            described.annotations = Some(reads());
            described
        };
        Ok(ListToolsResult::with_all_items(tools::ALL.iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::ALL.iter().find(|tool| tool.name == request.name) else {
            let near = nearest(&request.name, tools::ALL.iter().map(|tool| (tool.name, tool.name)));
            let hint = did_you_mean(&near).unwrap_or_else(|| String::from("tools/list names all"));
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`; {hint}", request.name), None));
        };
        let abandoned = Arc::new(AtomicBool::new(false));
        let call = Call { sources: Arc::clone(&self.sources), abandoned: Arc::clone(&abandoned) };
        let turn = Arc::clone(&self.turn);
        let worked_out = async {
            let turn = turn.acquire_owned().await;
            let work = move || {
                let _until_done = turn;
                (tool.ask)(request.arguments.unwrap_or_default(), &call)
            };
            tokio::task::spawn_blocking(work).await.context("the call ended before its answer").flatten()
        };
        tokio::select! {
            answer = worked_out => Ok(told(answer).into()),
            () = context.ct.cancelled() => {
                abandoned.store(true, Ordering::Relaxed);
                Ok(told(Err(anyhow::anyhow!("the call was cancelled"))).into())
            }
        }
    }
}

fn told(answer: anyhow::Result<Answer>) -> CallToolResult {
    match answer {
        Ok(Answer(texts)) => CallToolResult::success(texts.into_iter().map(ContentBlock::text).collect()),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(in_full(&error))]),
    }
}
