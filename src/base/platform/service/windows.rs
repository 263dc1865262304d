//! Windows: the service control manager.

use super::{Service, Start};
use crate::{
    signals::{self, Signal},
    windows::{done, wide},
};
use std::{
    ffi::{OsStr, OsString},
    fs::{File, OpenOptions},
    io::{self, Write},
    os::windows::io::IntoRawHandle,
    path::Path,
    ptr::{null, null_mut},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};
use windows_service::{
    define_windows_service,
    service::{
        ServiceAccess, ServiceControl, ServiceControlAccept, ServiceExitCode, ServiceState, ServiceStatus,
        ServiceType,
    },
    service_control_handler::{self, ServiceControlHandlerResult, ServiceStatusHandle},
    service_dispatcher,
    service_manager::{ServiceManager, ServiceManagerAccess},
};
use windows_sys::Win32::{
    Foundation::{ERROR_FAILED_SERVICE_CONTROLLER_CONNECT, ERROR_GEN_FAILURE},
    System::{
        Console::{STD_ERROR_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle},
        EventLog::{DeregisterEventSource, EVENTLOG_ERROR_TYPE, RegisterEventSourceW, ReportEventW},
    },
};

/// How long the end of the running games may take, as far as the service control manager wants to know: it shows that the
/// service is stopping for as long as it does.
const STOPPING: Duration = Duration::from_secs(600);
/// How long a start is awaited, as the service control manager does.
const STARTING: Duration = Duration::from_secs(30);

/// What the service does, until the system calls [`main`], which takes no values.
static TASK: Mutex<Option<Task>> = Mutex::new(None);
/// How it ended.
static ENDED: Mutex<Option<i32>> = Mutex::new(None);

struct Task {
    service: Service,
    work: Box<dyn FnOnce() -> i32 + Send>,
}

define_windows_service!(service_main, main);

pub(super) fn serve(service: Service, work: Box<dyn FnOnce() -> i32 + Send>) -> io::Result<i32> {
    let (name, log) = (service.name.clone(), service.log.clone());
    *TASK.lock().unwrap_or_else(PoisonError::into_inner) = Some(Task { service, work });
    // The output stays where it is until the system has answered: whoever typed the command reads the error there.
    if let Err(error) = service_dispatcher::start(&name, service_main) {
        let cause = cause(error, &name);
        keep_reason(&name, &log, &format!("the service could not be started: {cause}"));
        return Err(cause);
    }
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner).take();
    ended.ok_or_else(|| io::Error::other("the system ended the service before it began"))
}

pub(super) fn await_start(name: &str) -> io::Result<Start> {
    let cause = |error| cause(error, name);
    let manager = ServiceManager::local_computer(None::<&str>, ServiceManagerAccess::CONNECT);
    let service = manager.map_err(cause)?.open_service(name, ServiceAccess::QUERY_STATUS).map_err(cause)?;
    let end = Instant::now() + STARTING;
    loop {
        let status = service.query_status().map_err(cause)?;
        let start = start_of(status.current_state, status.exit_code)?;
        if start == Start::Done || Instant::now() >= end {
            return Ok(start);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Where the start of a service is by its state, or the code that the service has ended with.
fn start_of(state: ServiceState, code: ServiceExitCode) -> io::Result<Start> {
    match (state, code) {
        (ServiceState::StartPending, _) => Ok(Start::Pending),
        (ServiceState::Stopped, ServiceExitCode::Win32(code)) if code != 0 => {
            Err(io::Error::from_raw_os_error(code.cast_signed()))
        }
        (ServiceState::Stopped, ServiceExitCode::ServiceSpecific(code)) => {
            Err(io::Error::other(format!("exit code {code}")))
        }
        _ => Ok(Start::Done),
    }
}

/// The file to which a service prints.
fn open(log: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).open(log)
}

/// Writes why a service does not run to its log, or, where that cannot be opened, to the system's event log.
fn keep_reason(name: &str, log: &Path, reason: &str) {
    let written = open(log).and_then(|mut log| writeln!(log, "{reason}"));
    if written.is_err() {
        // No other place is left: the code with which the service ends has to do where this fails, too.
        let _unwritten = add_to_event_log(name, reason);
    }
}

/// Adds an error to the system's log of applications, under the name of the service.
#[allow(unsafe_code)]
fn add_to_event_log(name: &str, reason: &str) -> io::Result<()> {
    let (name, reason) = (wide(OsStr::new(name)), wide(OsStr::new(reason)));
    let texts = [reason.as_ptr()];
    // SAFETY: the texts end with a zero and live until after the calls; the source is closed once.
    unsafe {
        let source = RegisterEventSourceW(null(), name.as_ptr());
        if source.is_null() {
            return Err(io::Error::last_os_error());
        }
        let reported =
            done(ReportEventW(source, EVENTLOG_ERROR_TYPE, 0, 0, null_mut(), 1, 0, texts.as_ptr(), null()));
        DeregisterEventSource(source);
        reported
    }
}

/// The error of the system, which the text of the crate's own error leaves out.
fn cause(error: windows_service::Error, name: &str) -> io::Error {
    match error {
        windows_service::Error::Winapi(error)
            if error.raw_os_error() == Some(ERROR_FAILED_SERVICE_CONTROLLER_CONNECT.cast_signed()) =>
        {
            let text = format!("{error}; only the system starts a service: `sc.exe start {name}`");
            io::Error::new(error.kind(), text)
        }
        windows_service::Error::Winapi(error) => error,
        error => io::Error::other(error),
    }
}

/// Has what this program prints written to a file.
#[allow(unsafe_code)]
fn append_output_to(log: File) -> io::Result<()> {
    let log = log.into_raw_handle();
    for stream in [STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: the handle is open, and stays so for the life of the process.
        done(unsafe { SetStdHandle(stream, log) })?;
    }
    Ok(())
}

/// Called by the system on a thread of its own.
fn main(_arguments: Vec<OsString>) {
    let Some(Task { service, work }) = TASK.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return;
    };
    let handle = register(&service);
    *STATUS.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
    let (ended, code) = match open(&service.log).and_then(append_output_to) {
        Ok(()) => {
            report(ServiceState::Running, ServiceExitCode::Win32(0));
            let code = work();
            (code, exit_code(code, service.final_codes))
        }
        Err(error) => {
            let reason = format!("the log `{}` could not be opened: {error}", service.log.display());
            keep_reason(&service.name, &service.log, &reason);
            (1, ServiceExitCode::Win32(error.raw_os_error().map_or(ERROR_GEN_FAILURE, i32::cast_unsigned)))
        }
    };
    *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
    report(ServiceState::Stopped, code);
}

/// Has the system hand the service its orders. Without a handle it would hear of no end of the service and wait for one:
/// the process ends, with the reason in a log.
fn register(service: &Service) -> ServiceStatusHandle {
    let stop = service.stop;
    let handler = move |control| match control {
        ServiceControl::Interrogate => ServiceControlHandlerResult::NoError,
        ServiceControl::Stop => hand_on(stop),
        ServiceControl::Shutdown | ServiceControl::Preshutdown => hand_on(Signal::Terminate),
        _ => ServiceControlHandlerResult::NotImplemented,
    };
    service_control_handler::register(&service.name, handler).unwrap_or_else(|error| {
        let reason = format!("the service could not begin: {}", cause(error, &service.name));
        keep_reason(&service.name, &service.log, &reason);
        std::process::exit(1)
    })
}

/// The status that the service manager gets for an exit code: after an error it starts the service again.
fn exit_code(code: i32, final_codes: &[i32]) -> ServiceExitCode {
    if code == 0 || final_codes.contains(&code) {
        ServiceExitCode::Win32(0)
    } else {
        ServiceExitCode::ServiceSpecific(code.cast_unsigned())
    }
}

/// The service's handle at the service control manager.
static STATUS: Mutex<Option<ServiceStatusHandle>> = Mutex::new(None);

/// Passes a stop on as a signal.
fn hand_on(signal: Signal) -> ServiceControlHandlerResult {
    report(ServiceState::StopPending, ServiceExitCode::Win32(0));
    signals::dispatch(signal);
    ServiceControlHandlerResult::NoError
}

fn report(state: ServiceState, exit_code: ServiceExitCode) {
    let Some(handle) = *STATUS.lock().unwrap_or_else(PoisonError::into_inner) else { return };
    // A second stop is allowed: it ends games that a first one lets run.
    let accepted = ServiceControlAccept::STOP | ServiceControlAccept::SHUTDOWN;
    let stopped = state == ServiceState::Stopped;
    // After a refusal the manager has given the service up already.
    let _ignored = handle.set_service_status(ServiceStatus {
        service_type: ServiceType::OWN_PROCESS,
        current_state: state,
        controls_accepted: if stopped { ServiceControlAccept::empty() } else { accepted },
        exit_code,
        checkpoint: 0,
        wait_hint: if state == ServiceState::StopPending { STOPPING } else { Duration::ZERO },
        process_id: None,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_that_is_still_starting_has_neither_begun_nor_failed() {
        let start = |state, code| start_of(state, code).map_err(|fault| fault.raw_os_error());
        assert_eq!(start(ServiceState::StartPending, ServiceExitCode::Win32(0)), Ok(Start::Pending));
        assert_eq!(start(ServiceState::Running, ServiceExitCode::Win32(0)), Ok(Start::Done));
        assert_eq!(start(ServiceState::Stopped, ServiceExitCode::Win32(0)), Ok(Start::Done));
        assert_eq!(start(ServiceState::Stopped, ServiceExitCode::Win32(5)), Err(Some(5)));
        assert_eq!(start(ServiceState::Stopped, ServiceExitCode::ServiceSpecific(2)), Err(None));
    }
}
