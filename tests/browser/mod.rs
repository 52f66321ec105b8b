//! A real Chromium without a window, driven through chromedriver, that tells what it logged and asked for.

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// What keeps the browser from talking to anyone by itself.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

pub struct Browser {
    pub page: Client,
    driver: Child,
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Runs a test in a browser. Left out only where `ARGTRACE_NO_BROWSER=1` was set by hand.
///
/// # Panics
/// If there is no chromedriver: a test that did not run must not look like one that passed.
pub fn run(test: impl AsyncFnOnce(&mut Browser)) {
    if std::env::var_os("ARGTRACE_NO_BROWSER").is_some_and(|v| v == "1") {
        eprintln!("not tested: no browser");
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut browser = Browser::start().await;
        test(&mut browser).await;
        browser.page.clone().close().await.expect("an end");
    });
}

impl Browser {
    async fn start() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver (Debian: chromium-driver; ARGTRACE_NO_BROWSER=1 leaves these tests out)");
        let mut lines = BufReader::new(driver.stdout.take().expect("its output")).lines().map_while(Result::ok);
        let port: u16 = lines
            .find_map(|line| line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok())
            .expect("a port");
        let profile = tempfile::tempdir().expect("a folder");
        let own = format!("--user-data-dir={}", profile.path().display());
        let flags: Vec<&str> = FLAGS.iter().copied().chain([own.as_str()]).collect();
        let wanted = json!({
            "goog:chromeOptions": { "args": flags },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let wanted = wanted.as_object().expect("an object").clone().into_iter().collect();
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(wanted)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("a browser");
        Browser { page, driver, _profile: profile }
    }

    /// What the console says since it was last asked.
    pub async fn console(&self) -> Vec<String> {
        let told = self.log("browser").await;
        told.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Every address that was asked for since this was last asked.
    pub async fn requests(&self) -> Vec<String> {
        let events = self.log("performance").await;
        let events = events.iter().filter_map(|entry| serde_json::from_str::<Value>(entry["message"].as_str()?).ok());
        let sent = events.filter(|event| event["message"]["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| Some(event["message"]["params"]["request"]["url"].as_str()?.to_owned())).collect()
    }

    async fn log(&self, kind: &'static str) -> Vec<Value> {
        let told = self.page.issue_cmd(Log(kind)).await.expect("a log");
        told.as_array().cloned().unwrap_or_default()
    }

    /// What a script in the page answers.
    pub async fn ask(&self, script: &str) -> Value {
        self.page.execute(&format!("return {script}"), Vec::new()).await.expect("an answer")
    }
}

/// Chromedriver's own command for a log.
#[derive(Debug)]
struct Log(&'static str);

impl WebDriverCompatibleCommand for Log {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &url::Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({ "type": self.0 }).to_string()))
    }
}
