#![cfg(unix)]

use super::*;
use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};
use tempfile::TempDir;

/// SHA-256 of nothing.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const SHORT: Duration = Duration::from_millis(400);
const LONG: Duration = Duration::from_secs(60);

/// A directory with a program in the place of `ssh`.
struct Far(TempDir);

impl Far {
    /// Runs `lines` as `ssh` with the arguments `HOST COMMAND`.
    fn saying(lines: &str) -> Self {
        let far = Self(tempfile::tempdir().unwrap());
        far.program("as-ssh", &format!("#!/bin/sh\n{lines}\n"));
        far
    }

    /// A host of its own, where this shell is that of the login.
    fn with(shell: &str) -> Self {
        Self::saying(&format!("exec {shell} -c \"$2\""))
    }

    fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn engine(&self, command: PathBuf) -> EnginePlan {
        EnginePlan {
            host: Some("box".to_owned()),
            ssh_command: vec![self.0.path().join("as-ssh").display().to_string()],
            directory: command.parent().map(Path::to_path_buf),
            command,
            ..EnginePlan::default()
        }
    }

    /// What an engine is, with the values of its options.
    fn ask(&self, values: &[(&str, bool)], patience: Duration) -> Result<Answer, FarError> {
        let value =
            |(path, is_listed): &(&str, bool)| Value { path: (*path).to_owned(), is_listed: *is_listed };
        let values: Vec<_> = values.iter().map(value).collect();
        ask(&self.engine(self.0.path().join("new/engine")), &values, patience)
    }
}

#[test]
fn no_quote_blank_or_line_break_of_a_path_meets_the_shell_of_a_login() {
    let names = ["a b", "it's", "\"$HOME\" `id` $(id) \\ ! %s %b #;&|<>*?~", "two\nlines", "x=y", "将棋"];
    for shell in ["sh", "bash", "dash", "zsh", "fish", "tcsh"] {
        if Command::new(shell).args(["-c", "exit 0"]).status().is_err() {
            continue;
        }
        let far = Far::with(shell);
        for name in names {
            let program = far.program(
                &format!("{name}/{name}"),
                "#!/bin/sh\nprintf '%s|' \"$@\" \"$RENMEI_A\" \"${PWD##*/}\"",
            );
            let mut engine = far.engine(program);
            engine.args = names.map(str::to_owned).to_vec();
            for environment in [vec![], vec![("RENMEI_A".to_owned(), "it's\na".to_owned())]] {
                let value = environment.first().map(|(_, value)| value.clone()).unwrap_or_default();
                engine.environment = environment;
                let words = start(&engine).unwrap();
                let output = Command::new(&words[0]).args(&words[1..]).output().unwrap();
                let expected = names.map(str::to_owned).into_iter().chain([value, name.to_owned()]);
                let expected: String = expected.map(|word| word + "|").collect();
                assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{shell}: {output:?}");
            }
            assert_eq!(ask(&engine, &[], LONG).unwrap().sha256.len(), 64, "{shell}: {name}");
        }
    }
}

#[test]
fn a_host_says_what_an_engine_and_its_files_are() {
    let far = Far::saying("echo Welcome; exec sh -c \"$2\"");
    far.program("new/engine", "");
    for (name, text) in
        [("new/eval/nn.bin", ""), ("new/eval/deep/x y", "1"), ("new/book.db", ""), ("beside", "")]
    {
        far.program(name, text);
    }
    let home = far.0.path().join("new").canonicalize().unwrap().display().to_string();
    let beside = far.0.path().join("beside").display().to_string();
    let values = [
        ("eval", false),
        ("./book.db", true),
        ("missing", false),
        (".", false),
        ("/", false),
        (&beside, false),
        ("--x", false),
    ];
    let Answer { mut files, sha256, directory, program, cores, .. } = far.ask(&values, LONG).unwrap();
    assert_eq!((sha256.as_str(), directory), (EMPTY, home.clone()));
    assert_eq!(program, far.0.path().join("new/engine").display().to_string());
    assert!(cores >= std::thread::available_parallelism().unwrap().get(), "the cores of this host: {cores}");
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let found: Vec<_> =
        files.iter().map(|file| (file.value, file.path.as_str(), file.sha256 == EMPTY)).collect();
    let mut expected = [
        (5, beside.as_str(), true),
        (1, "book.db", true),
        (0, "eval/deep/x y", false),
        (0, "eval/nn.bin", true),
    ];
    expected.sort_by_key(|(_, path, _)| *path);
    assert_eq!(found, expected);
    assert_eq!(
        far.ask(&[(".", true)], LONG).unwrap().files.len(),
        4,
        "a listed directory may hold the engine"
    );
    let many = Far::with("sh");
    many.program("new/engine", "");
    (0..=MOST_FILES).for_each(|at| drop(many.program(&format!("new/eval/{at}"), "")));
    let answer = many.ask(&[("eval", false)], LONG).unwrap();
    assert!(answer.is_beyond_count(0) && !answer.is_beyond_count(1));
}

#[test]
fn a_host_without_the_program_says_so() {
    let far = Far::with("sh");
    fs::create_dir(far.0.path().join("new")).unwrap();
    let why = far.ask(&[], LONG).unwrap_err().to_string();
    assert!(why.starts_with("host `box`: the connection ended\n  ! renmei: there is no program "), "{why}");
    let named = EnginePlan { command: "renmei-no-such-engine".into(), ..far.engine("new/engine".into()) };
    let named = EnginePlan { directory: None, ..named };
    let why = ask(&named, &[], LONG).unwrap_err().to_string();
    assert!(why.contains("there is no program renmei-no-such-engine on the path"), "{why}");
}

#[test]
fn a_host_that_lies_floods_or_hangs_is_a_fault_with_its_name_and_the_words_of_ssh() {
    let begin = "echo oops >&2;";
    let cases = [
        ("yes", LONG, "the answer is too long"),
        (
            "while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
            LONG,
            "the answer is too long",
        ),
        ("echo renmei-far file 0 ABC /x; sleep 60", LONG, "malformed answer `file 0 ABC /x`"),
        ("echo renmei-far file 7 $0 /x; sleep 60", LONG, "malformed answer"),
        ("printf 'renmei-far what\\033[2J\\n'; sleep 60", LONG, "malformed answer `what"),
        ("echo renmei-far end; sleep 60", LONG, "no hash of the program"),
        ("sleep 60", SHORT, "no answer within 0.4 s"),
        ("exit 255", LONG, "the connection ended"),
    ];
    for (lines, patience, words) in cases {
        let far = Far::saying(&format!("{begin} {lines}"));
        let begun = Instant::now();
        let why = far.ask(&[], patience).unwrap_err().to_string();
        assert!(why.contains(words) && why.starts_with("host `box`: "), "{lines}: {why}");
        assert!(why.ends_with("\n  ! oops") && !why.contains('\u{1b}'), "{lines}: {why}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{lines}");
    }
    let boasts = format!(
        "echo renmei-far cores 99999999; echo renmei-far file 0 {EMPTY} /x; echo renmei-far end; while read -r x; do echo renmei-far pong; done"
    );
    assert_eq!(Far::saying(&boasts).ask(&[], LONG).unwrap().cores, MOST_CORES);
    let good = format!("echo renmei-far file 0 {EMPTY} /x; echo renmei-far end; sleep 60");
    let silent = Far::saying(&good).ask(&[], SHORT).unwrap_err().to_string();
    assert!(silent.contains("no answer within"), "nothing comes back: {silent}");
    let absent = EnginePlan {
        host: Some("box".to_owned()),
        ssh_command: vec!["/no/ssh".to_owned()],
        ..EnginePlan::default()
    };
    assert!(ask(&absent, &[], LONG).unwrap_err().to_string().starts_with("`/no/ssh`: "));
}

#[test]
fn ssh_asks_nothing_and_other_programs_get_no_options_of_it() {
    let words = |command: &[&str]| ssh(&command.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    let openssh = words(&["/usr/bin/ssh", "-p", "2222"]).unwrap().join(" ");
    assert!(
        openssh.starts_with("/usr/bin/ssh -p 2222 -T -o BatchMode=yes -o ConnectTimeout=15"),
        "{openssh}"
    );
    assert_eq!(words(&["plink", "-batch"]).unwrap(), ["plink", "-batch"]);
    assert_eq!(words(&[]), None);
}

#[test]
fn an_engine_behind_a_plain_ssh_is_told_apart() {
    let engine = |command: &str, args: &[&str]| EnginePlan {
        command: command.into(),
        args: args.iter().map(|word| (*word).to_owned()).collect(),
        ..EnginePlan::default()
    };
    let hinted = hint(&engine("/usr/bin/ssh", &["gpu-box", "./engine"])).unwrap();
    assert!(hinted.contains("`host = \"gpu-box\"` and `command = \"./engine\"`"), "{hinted}");
    assert!(hint(&engine("ssh", &["-p", "2", "gpu-box", "./engine"])).unwrap().contains("`ssh_command`"));
    assert!(hint(&engine("plink.exe", &[])).is_some());
    assert_eq!(hint(&engine("./engine", &["ssh"])), None);
    assert_eq!(hint(&EnginePlan { host: Some("box".to_owned()), ..engine("ssh", &[]) }), None);
}
