//! A client of the real program.

#![allow(dead_code, reason = "no test file uses all of it")]

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, RequestContext, RunningService, ServiceError,
};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// Longer than anything here takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// Which revision of the protocol a client begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifecycle {
    /// 2025-11-25: `initialize`.
    Older,
    /// 2026-07-28: `server/discover`.
    Newer,
}

impl Lifecycle {
    pub(crate) const BOTH: [Self; 2] = [Self::Older, Self::Newer];

    fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Older => ClientLifecycleMode::Initialize,
            Self::Newer => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
        }
    }
}

/// A client whose user is called Ada, and which counts what it is told unasked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Client {
    pub(crate) progress: Arc<AtomicUsize>,
    pub(crate) changes: Arc<AtomicUsize>,
    pub(crate) questions: Arc<AtomicUsize>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(capabilities, Implementation::new("test", "0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = request else {
            return Err(ErrorData::invalid_params("That is no form.", None));
        };
        assert_eq!(requested_schema.properties.keys().collect::<Vec<_>>(), ["name"]);
        self.questions.fetch_add(1, Ordering::Relaxed);
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ada" })))
    }

    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}

/// The program, which is killed when it is dropped.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretoken-test-mcp"));
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

/// The program and a client that speaks with it.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: RunningService<RoleClient, Client>,
    pub(crate) child: Child,
}

impl Session {
    pub(crate) async fn start(lifecycle: Lifecycle, arguments: &[&str]) -> Self {
        Self::start_by(lifecycle.mode(), arguments).await.unwrap()
    }

    pub(crate) async fn start_by(
        mode: ClientLifecycleMode,
        arguments: &[&str],
    ) -> Result<Self, ClientInitializeError> {
        let mut child = command(arguments).spawn().unwrap();
        let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let client = Client::default().serve_with_lifecycle(pipes, mode);
        Ok(Self { client: timeout(LONG, client).await.expect("it starts")?, child })
    }

    pub(crate) async fn try_call(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> Result<CallToolResult, ServiceError> {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = CallToolRequestParams::new(tool).with_arguments(arguments);
        timeout(LONG, self.client.call_tool(call)).await.expect("it answers")
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        self.try_call(tool, arguments).await.unwrap()
    }

    /// Closes stdin, and says with which status the program ended.
    pub(crate) async fn end(mut self) -> Option<i32> {
        self.client.close().await.unwrap();
        drop(self.client);
        timeout(LONG, self.child.wait()).await.expect("it ends").unwrap().code()
    }
}

/// The first text of a result.
pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content.iter().find_map(|part| part.as_text()).expect("a text").text
}

/// The lines of a log, none where there is no file.
pub(crate) fn lines(log: &Path) -> Vec<String> {
    std::fs::read_to_string(log).unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The program and its bare pipes, for what no library reads.
#[derive(Debug)]
pub(crate) struct Raw {
    pub(crate) child: Child,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: BufReader<ChildStdout>,
}

impl Raw {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, stdin, stdout }
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Goes through `initialize`, as request 0. Its answer is left to be read.
    pub(crate) async fn initialize(&mut self) {
        let client = json!({ "name": "raw", "version": "0" });
        let parameters = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters })).await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }

    /// Calls a tool, as request 1.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) {
        let call = json!({ "name": tool, "arguments": arguments });
        self.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call })).await;
    }

    /// A line with its newline; what there is without one, where nothing comes for a while; nothing at the end.
    pub(crate) async fn line(&mut self, patience: Duration) -> Vec<u8> {
        let mut line = Vec::new();
        let _ = timeout(patience, self.stdout.read_until(b'\n', &mut line)).await;
        line
    }

    /// All that comes until nobody holds stdout open, or for as long as the patience lasts.
    pub(crate) async fn rest(&mut self, patience: Duration) -> Option<Vec<u8>> {
        let mut rest = Vec::new();
        timeout(patience, self.stdout.read_to_end(&mut rest)).await.ok()?.unwrap();
        Some(rest)
    }
}
