//! `argtrace serve --mcp` as an assistant's client uses it: JSON-RPC over the pipes of a child.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/launch");
const PATIENCE: Duration = Duration::from_secs(60);

struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    last: u64,
}

impl Client {
    /// A server that has said what it is.
    fn of(sources: &[&str]) -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_argtrace"))
            .args(["serve", "--mcp", "--no-cache", "--quiet"])
            .args(sources)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        let (send, messages) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let _ = send.send(serde_json::from_str(&line.unwrap()).unwrap());
            }
        });
        let mut client = Client { child, stdin, messages, last: 0 };
        let about = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "0" }
        });
        let answer = client.request("initialize", about);
        assert_eq!(answer["result"]["serverInfo"]["name"], "argtrace");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    fn send(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a request without waiting for its answer; gives its id.
    fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }).to_string());
        self.last
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let answer = self.messages.recv_timeout(PATIENCE).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    fn answer(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    fn refusal(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes stdin; gives the exit code.
    fn end(mut self) -> Option<i32> {
        self.stdin = None;
        self.child.wait().unwrap().code()
    }
}

#[test]
fn each_tool_is_described_and_answers() {
    let mut client = Client::of(&[TREE]);
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["report", "fields", "diff", "audit", "budget"]);
    for tool in tools {
        jsonschema::meta::validate(&tool["inputSchema"]).unwrap();
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
    }

    let brief: Value = serde_json::from_str(&client.answer("report", json!({ "fields": ["--page"] }))).unwrap();
    assert_eq!(
        (brief["schema"].as_str(), brief["fields"][0]["field"].as_str()),
        (Some("argtrace/brief/1"), Some("page"))
    );
    let full = client.answer("report", json!({ "fields": ["page"], "full": true, "source": TREE }));
    assert_eq!(serde_json::from_str::<Value>(&full).unwrap()["fields"].as_array().unwrap().len(), 1);
    assert!(client.answer("fields", json!({ "fields": ["pool*"] })).contains("\npool_gb,"));
    assert!(client.answer("diff", json!({ "old": TREE, "new": TREE })).contains("no change"));
    let audit = client.answer("audit", json!({ "command": "python -m sglang.launch_server --model-path x --pagee 3" }));
    assert!(audit.contains("unknown-flag"), "{audit}");
    let budget = client.call("budget", json!({ "field": "pool_gb", "host_memory": "64GB", "set": ["tp_size=2"] }));
    assert!(budget["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("pool_gb")), "{budget}");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_cannot_be_answered_says_what_to_ask() {
    let mut client = Client::of(&[TREE]);
    assert!(client.refusal("report", json!({ "fields": ["pool_ration"] })).contains("did you mean pool_ratio"));
    assert!(client.refusal("report", json!({ "feilds": ["page"] })).contains("did you mean fields?"));
    assert!(client.refusal("report", json!({ "fields": "page" })).contains("do not fit"));
    assert!(client.refusal("report", json!({ "fields": [] })).contains("no field is named"));
    assert!(client.refusal("report", json!({ "fields": ["x".repeat(70_000)] })).contains("at most 65536"));
    assert!(client.refusal("fields", json!({ "unit": ["parsec"] })).contains("there is no unit `parsec`"));
    assert!(client.refusal("budget", json!({ "field": "pool_gb", "host_memory": "64" })).contains("64GB"));
    assert!(client.call("reprot", json!({}))["error"]["message"].as_str().unwrap().contains("did you mean report?"));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn only_the_sources_it_was_started_with_are_read() {
    let mut client = Client::of(&[TREE]);
    for other in ["/etc", ".", "sglang==0.5.9", concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/launch/")] {
        let said = client.refusal("report", json!({ "fields": ["page"], "source": other }));
        assert!(said.contains("may not be read") && said.ends_with(TREE), "{said}");
        assert!(client.refusal("diff", json!({ "old": TREE, "new": other })).contains("may not be read"));
        // In the place of a field it is a field.
        client.refusal("report", json!({ "fields": ["page", other] }));
    }
    let named = json!({ "command": "python -m sglang.launch_server --model-path x --config /etc/hostname" });
    assert!(
        !client.call("audit", named).to_string().contains(std::fs::read_to_string("/etc/hostname").unwrap().trim())
    );
    assert_eq!(client.end(), Some(0));
}

#[test]
fn a_call_can_be_cancelled_and_a_ping_is_heard_meanwhile() {
    let mut client = Client::of(&[TREE]);
    let calls: Vec<u64> = (0..8)
        .map(|_| {
            client.begin("tools/call", json!({ "name": "report", "arguments": { "fields": ["*"], "full": true } }))
        })
        .collect();
    for id in &calls {
        let params = json!({ "requestId": id, "reason": "no longer wanted" });
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string());
    }
    let ping = client.begin("ping", json!({}));
    // The first may have been answered before it was cancelled; the last cannot.
    let answered: Vec<Value> = std::iter::from_fn(|| client.messages.recv_timeout(PATIENCE).ok())
        .map(|message| message["id"].clone())
        .take_while(|id| *id != ping)
        .collect();
    assert!(!answered.contains(&json!(calls[7])), "{answered:?}");
    assert!(client.answer("report", json!({ "fields": ["page"] })).contains("page"));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn what_is_no_message_ends_nothing() {
    let mut client = Client::of(&[TREE]);
    for line in ["{not json", "[]", "\u{0}", &format!("\"{}\"", "x".repeat(2 << 20))] {
        client.send(line);
    }
    let ping = client.begin("ping", json!({}));
    // Each may be answered with an error of the protocol; the ping is heard after them.
    let heard = std::iter::from_fn(|| client.messages.recv_timeout(PATIENCE).ok()).any(|message| message["id"] == ping);
    assert!(heard);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn it_starts_only_with_a_protocol_and_sources_that_can_be_read() {
    let code = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_argtrace"));
        command.args(arguments).stdin(Stdio::null()).output().unwrap().status.code()
    };
    assert_eq!(code(&["serve", TREE]), Some(2));
    assert_eq!(code(&["serve", "--mcp", "/no/such/tree"]), Some(2));
    assert_eq!(code(&["serve", "--mcp", TREE]), Some(0));
}
