//! Windows: the service control manager.

use super::Service;
use crate::{
    signals::{self, Signal},
    windows::done,
};
use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, Write},
    os::windows::io::IntoRawHandle,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use windows_service::{
    define_windows_service,
    service::{
        ServiceControl, ServiceControlAccept, ServiceExitCode, ServiceState, ServiceStatus, ServiceType,
    },
    service_control_handler::{self, ServiceControlHandlerResult, ServiceStatusHandle},
    service_dispatcher,
};
use windows_sys::Win32::{
    Foundation::ERROR_FAILED_SERVICE_CONTROLLER_CONNECT,
    System::Console::{STD_ERROR_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle},
};

/// How long the end of the running games may take, as far as the service control manager wants to know: it shows that the
/// service is stopping for as long as it does.
const STOPPING: Duration = Duration::from_secs(600);

/// What the service does, until the system calls [`main`], which takes no values.
static TASK: Mutex<Option<Task>> = Mutex::new(None);
/// How it ended.
static ENDED: Mutex<Option<i32>> = Mutex::new(None);

struct Task {
    service: Service,
    log: File,
    work: Box<dyn FnOnce() -> i32 + Send>,
}

define_windows_service!(service_main, main);

pub(super) fn serve(service: Service, work: Box<dyn FnOnce() -> i32 + Send>) -> io::Result<i32> {
    let mut log = OpenOptions::new().append(true).create(true).open(&service.log)?;
    let name = service.name.clone();
    let task = Task { service, log: log.try_clone()?, work };
    *TASK.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    // The output stays where it is until the system has answered: whoever typed the command reads the error there.
    if let Err(error) = service_dispatcher::start(&name, service_main) {
        let cause = cause(error, &name);
        writeln!(log, "the service could not be started: {cause}")?;
        return Err(cause);
    }
    let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner).take();
    ended.ok_or_else(|| io::Error::other("the system ended the service before it began"))
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
fn append_output_to(log: &File) -> io::Result<()> {
    let log = log.try_clone()?.into_raw_handle();
    for stream in [STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: the handle is open, and stays so for the life of the process.
        done(unsafe { SetStdHandle(stream, log) })?;
    }
    Ok(())
}

/// Called by the system on a thread of its own.
fn main(_arguments: Vec<OsString>) {
    let Some(Task { service, log, work }) = TASK.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return;
    };
    let stop = service.stop;
    let handler = move |control| match control {
        ServiceControl::Interrogate => ServiceControlHandlerResult::NoError,
        ServiceControl::Stop => hand_on(stop),
        ServiceControl::Shutdown | ServiceControl::Preshutdown => hand_on(Signal::Terminate),
        _ => ServiceControlHandlerResult::NotImplemented,
    };
    let registered =
        service_control_handler::register(&service.name, handler).map_err(|e| cause(e, &service.name));
    let handle = match append_output_to(&log).and(registered) {
        Ok(handle) => handle,
        Err(error) => give_up(log, &error),
    };
    *STATUS.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
    report(ServiceState::Running, ServiceExitCode::Win32(0));
    let code = work();
    *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = Some(code);
    let is_final = code == 0 || service.final_codes.contains(&code);
    let code = if is_final {
        ServiceExitCode::Win32(0)
    } else {
        ServiceExitCode::ServiceSpecific(code.cast_unsigned())
    };
    report(ServiceState::Stopped, code);
}

/// Ends the process with its reason in the log: without a handle the system hears of no end of the service, and would wait
/// for one.
fn give_up(mut log: File, error: &io::Error) -> ! {
    // The log is the only place for words; the exit code is left where it cannot be written.
    let _unwritten = writeln!(log, "the service could not begin: {error}");
    std::process::exit(1)
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
