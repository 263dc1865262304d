//! A headless Chromium through its driver: as much of W3C WebDriver as the tests need, and Chromium's own commands.

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

pub use testing::PATIENCE;
/// Key of an element in the driver's JSON.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Codes of keys in WebDriver.
pub mod key {
    pub const END: &str = "\u{e010}";
    pub const HOME: &str = "\u{e011}";
    pub const LEFT: &str = "\u{e012}";
    pub const UP: &str = "\u{e013}";
    pub const RIGHT: &str = "\u{e014}";
    pub const DOWN: &str = "\u{e015}";
}

/// A browser window with a profile of its own; ends with the value.
pub struct Browser {
    driver: Child,
    address: String,
    session: String,
}

impl Browser {
    /// Starts a browser that asks for pages in `language`.
    pub fn start(language: &str) -> Self {
        // It ends where the port that it has drawn for one protocol is taken on the other.
        let (driver, port) = (0..5).find_map(|_| Self::drive()).expect("chromedriver listens");
        let mut browser = Self { driver, address: format!("127.0.0.1:{port}"), session: String::new() };
        browser.begin(language);
        browser
    }

    /// Starts a driver, and tells its port; none if it ended before it listened.
    fn drive() -> Option<(Child, String)> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts: `cargo xtask browser` installs it");
        let mut said = BufReader::new(driver.stdout.take().unwrap());
        let mut line = String::new();
        while said.read_line(&mut line).unwrap() > 0 {
            let words = line.trim().trim_end_matches('.');
            if let Some((_, port)) = words.split_once("started successfully on port ") {
                let port = port.to_owned();
                thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
                return Some((driver, port));
            }
            line.clear();
        }
        driver.wait().unwrap();
        None
    }

    fn begin(&mut self, language: &str) {
        let mut args = vec!["--headless=new", "--no-first-run", "--disable-background-networking"];
        args.extend(["--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars"]);
        // What is clicked stands still.
        args.push("--force-prefers-reduced-motion");
        // Chromium's own sandbox needs a user that is not root.
        if nix::unistd::geteuid().is_root() {
            args.push("--no-sandbox");
        }
        let language = format!("--accept-lang={language}");
        args.push(&language);
        let wish = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome",
            "unhandledPromptBehavior": "ignore",
            "timeouts": { "script": PATIENCE.as_millis() as u64 },
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": { "args": args },
        } } });
        let begun = self.ask("POST", "/session", &wish).expect("a browser starts");
        self.session = format!("/session/{}", begun["sessionId"].as_str().unwrap());
    }

    /// Sends a command to the driver; the value of its answer, or its error.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(&self.address).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        let answer = stream.write_all(format!("{head}{body}").as_bytes()).and_then(|()| read(stream));
        let answer = answer.map_err(|error| format!("{method} {path}: {error}"))?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{method} {path}: {error}: {}", answer["value"]["message"])),
            None => Ok(answer["value"].clone()),
        }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("{}{path}", self.session), body).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Goes to an address, and waits until its page is loaded.
    pub fn open(&self, address: &str) {
        self.post("/url", &json!({ "url": address }));
    }

    /// Runs a script in the page; `arguments[0]` is `with`.
    pub fn run(&self, script: &str, with: &Value) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [with] }))
    }

    /// Runs a script in the page until it calls its last argument; what it called that with.
    pub fn wait(&self, script: &str) -> Value {
        self.post("/execute/async", &json!({ "script": script, "args": [] }))
    }

    /// The value of an expression in the page.
    pub fn value(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression});"), &Value::Null)
    }

    /// The value of an expression as text.
    pub fn text(&self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits for an expression in the page to be true. A page that is just being replaced has no value yet.
    pub fn until(&self, expression: &str) {
        let body = json!({ "script": format!("return Boolean({expression});"), "args": [] });
        let path = format!("{}/execute/sync", self.session);
        wait_for(expression, || self.ask("POST", &path, &body).is_ok_and(|value| value == true));
    }

    /// Calls a command of Chromium's own protocol.
    pub fn chromium(&self, command: &str, with: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({ "cmd": command, "params": with }))
    }

    fn element(&self, css: &str) -> String {
        let found = self.post("/element", &json!({ "using": "css selector", "value": css }));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// Clicks on the first element of a selector as a mouse does: what something else covers is not clicked.
    pub fn click(&self, css: &str) {
        self.post(&format!("/element/{}/click", self.element(css)), &json!({}));
    }

    /// Types into a field.
    pub fn write(&self, css: &str, text: &str) {
        self.post(&format!("/element/{}/value", self.element(css)), &json!({ "text": text }));
    }

    /// Presses keys, one after the other.
    pub fn press(&self, keys: &[&str]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        self.post("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Moves a finger across the page: down at a point of the window, up at another.
    pub fn swipe(&self, from: (i64, i64), to: (i64, i64)) {
        self.draw("touch", from, to);
    }

    /// Draws the mouse across the page with its button held.
    pub fn drag(&self, from: (i64, i64), to: (i64, i64)) {
        self.draw("mouse", from, to);
    }

    fn draw(&self, kind: &str, from: (i64, i64), to: (i64, i64)) {
        let at = |(x, y): (i64, i64)| json!({ "type": "pointerMove", "x": x, "y": y, "duration": 20 });
        let (down, up) =
            (json!({ "type": "pointerDown", "button": 0 }), json!({ "type": "pointerUp", "button": 0 }));
        let finger = json!({ "type": "pointer", "id": kind, "parameters": { "pointerType": kind },
            "actions": [at(from), down, at(to), up] });
        self.post("/actions", &json!({ "actions": [finger] }));
    }

    /// True if a box of `alert` is open.
    pub fn is_alerted(&self) -> bool {
        self.ask("GET", &format!("{}/alert/text", self.session), &Value::Null).is_ok()
    }

    /// What the console says of errors and of violated policies since the last call.
    pub fn complaints(&self) -> Vec<String> {
        let lines = self.post("/se/log", &json!({ "type": "browser" }));
        let lines = lines.as_array().cloned().unwrap_or_default();
        lines
            .iter()
            .filter(|line| line["level"] == "SEVERE" || line["level"] == "WARNING")
            .map(|line| line["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// A window of this width, as a phone's or a projector's.
    pub fn resize(&self, width: u32, height: u32) {
        let window =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.chromium("Emulation.setDeviceMetricsOverride", &window);
    }

    /// Makes the network as slow as a phone's: 1.6 Mbit/s with 150 ms.
    pub fn slow_down(&self) {
        let network = json!({ "offline": false, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000 });
        self.chromium("Network.enable", &json!({}));
        self.chromium("Network.emulateNetworkConditions", &network);
    }

    /// Writes a picture of the page, of what is seen at once or of its whole length.
    pub fn picture(&self, file: &Path, whole: bool) {
        let taken = self
            .chromium("Page.captureScreenshot", &json!({ "format": "png", "captureBeyondViewport": whole }));
        use base64::{Engine as _, engine::general_purpose::STANDARD};
        fs::write(file, STANDARD.decode(taken["data"].as_str().unwrap()).unwrap()).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _gone_already = self.ask("DELETE", &self.session, &Value::Null);
        let _over_already = self.driver.kill();
        let _over = self.driver.wait();
    }
}

/// The body of an answer of HTTP with a length.
fn read(stream: TcpStream) -> std::io::Result<Vec<u8>> {
    let mut stream = BufReader::new(stream);
    let (mut length, mut line) = (0, String::new());
    while stream.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

/// Asks again until something is so.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(50));
    }
}
