//! The little of WebDriver that is needed: chromedriver speaks JSON over HTTP.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A running chromedriver with one browser; both end when it is dropped.
pub struct Driver {
    process: Child,
    /// Open as long as the process may write.
    _output: BufReader<ChildStdout>,
    port: u16,
    session: String,
}

impl Driver {
    /// Starts chromedriver on a free port, and a browser with the given flags.
    pub fn start(flags: &[String]) -> Self {
        let mut process = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let mut output = BufReader::new(process.stdout.take().expect("a pipe"));
        let port = announced_port(&mut output);
        let mut driver = Self {
            process,
            _output: output,
            port,
            session: String::new(),
        };
        let wishes = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": flags },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let answer = driver.post("/session", &wishes);
        let session = answer["sessionId"].as_str();
        driver.session = session
            .unwrap_or_else(|| panic!("no browser: {answer}"))
            .to_owned();
        driver
    }

    /// Opens a file.
    pub fn open(&mut self, file: &Path) {
        let url = format!("file://{}", file.display());
        self.command("url", &json!({ "url": url }));
    }

    /// Value of a script.
    pub fn evaluate(&mut self, script: &str) -> Value {
        self.command("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Messages of the console since the last call.
    pub fn console(&mut self) -> Vec<String> {
        let log = self.command("se/log", &json!({ "type": "browser" }));
        let entries = log.as_array().cloned().unwrap_or_default();
        entries.iter().map(|e| e["message"].to_string()).collect()
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        self.post(&format!("/session/{}/{name}", self.session), body)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.request("POST", path, &body.to_string())
    }

    fn request(&self, verb: &str, path: &str, body: &str) -> Value {
        let mut stream =
            TcpStream::connect(("127.0.0.1", self.port)).expect("chromedriver listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(120)))
            .expect("a time that is not zero");
        write!(
            stream,
            "{verb} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
        .expect("chromedriver listens");
        let mut answer = read_answer(&mut stream);
        answer["value"].take()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.request("DELETE", &format!("/session/{}", self.session), "");
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// chromedriver prints the port it took.
fn announced_port(output: &mut impl BufRead) -> u16 {
    let mut line = String::new();
    loop {
        line.clear();
        let read = output.read_line(&mut line).expect("text");
        assert!(read > 0, "chromedriver ended without a port");
        let port = line.split("successfully on port ").nth(1);
        let digits = port.map(|p| p.trim_end().trim_end_matches('.'));
        if let Some(Ok(port)) = digits.map(str::parse) {
            return port;
        }
    }
}

/// The JSON body of an answer with a length.
fn read_answer(stream: &mut TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("an answer");
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("the whole answer");
    serde_json::from_slice(&body).expect("JSON")
}
