//! What the settings say of the recovery of an archive.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base::settings::{ServerSettings, Setting};
use base::{SqlError, SqlResult, SqlState, TimelineId, Xid};
use engine::{ArchiveRecovery, Target, TargetAction, TargetTimeline, Upstream};
use tuple::Datum;
use types::timezone::TimeZone;
use types::{Call, FormatContext, oids};

/// Bytes of a restore point's name at most.
const NAME: usize = 63;
/// Words for moments that mean another one each time they are read.
const MOVING: [&str; 6] = ["now", "today", "tomorrow", "yesterday", "epoch", "infinity"];

/// The settings as the engine takes them. `stop`: set when the server is to stop while it recovers; `upstream`: who receives the log for a standby.
pub fn archive_recovery(
    settings: &ServerSettings,
    stop: Arc<AtomicBool>,
    upstream: Option<Arc<dyn Upstream>>,
) -> SqlResult<ArchiveRecovery> {
    let text = |setting| settings.text(setting).to_owned();
    let delay = |setting| (settings.int(setting) >= 0).then(|| settings.duration(setting));
    Ok(ArchiveRecovery {
        restore_command: text(Setting::restore_command),
        end_command: text(Setting::recovery_end_command),
        cleanup_command: text(Setting::archive_cleanup_command),
        target: target(settings)?,
        hot_standby: settings.bool(Setting::hot_standby),
        inclusive: settings.bool(Setting::recovery_target_inclusive),
        timeline: timeline(settings)?,
        action: match settings.text(Setting::recovery_target_action) {
            "promote" => TargetAction::Promote,
            "pause" if settings.bool(Setting::hot_standby) => TargetAction::Pause,
            // Nobody can look: PostgreSQL without hot standby stops too.
            _ => TargetAction::Shutdown,
        },
        archive_delay: delay(Setting::max_standby_archive_delay),
        streaming_delay: delay(Setting::max_standby_streaming_delay),
        tell_conflicts: settings
            .bool(Setting::log_recovery_conflict_waits)
            .then(|| settings.duration(Setting::deadlock_timeout)),
        apply_delay: settings.duration(Setting::recovery_min_apply_delay),
        retry: settings.duration(Setting::wal_retrieve_retry_interval),
        stop,
        upstream,
    })
}

fn invalid(setting: Setting, text: &str) -> SqlError {
    let message = format!("invalid value for parameter \"{}\": \"{text}\"", setting.name());
    SqlError::fatal(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn timeline(settings: &ServerSettings) -> SqlResult<TargetTimeline> {
    let setting = Setting::recovery_target_timeline;
    match settings.text(setting) {
        "latest" | "" => Ok(TargetTimeline::Latest),
        "current" => Ok(TargetTimeline::Current),
        number => match number.parse() {
            Ok(number @ 1..) => Ok(TargetTimeline::Number(TimelineId(number))),
            _ => Err(invalid(setting, number)
                .detail("\"recovery_target_timeline\" is not a valid number.".to_owned())),
        },
    }
}

fn target(settings: &ServerSettings) -> SqlResult<Option<Target>> {
    let setting = |setting: Setting| Some(settings.text(setting)).filter(|text| !text.is_empty());
    let mut targets = Vec::new();
    if let Some(text) = setting(Setting::recovery_target) {
        if text != "immediate" {
            return Err(invalid(Setting::recovery_target, text)
                .detail("The only allowed value is \"immediate\".".to_owned()));
        }
        targets.push(Target::Immediate);
    }
    if let Some(text) = setting(Setting::recovery_target_lsn) {
        let lsn = text.parse().map_err(|()| invalid(Setting::recovery_target_lsn, text))?;
        targets.push(Target::Lsn(lsn));
    }
    if let Some(text) = setting(Setting::recovery_target_name) {
        if text.len() > NAME {
            return Err(invalid(Setting::recovery_target_name, text)
                .detail(format!("\"recovery_target_name\" is too long (maximum {NAME} characters).")));
        }
        targets.push(Target::Name(text.into()));
    }
    if let Some(text) = setting(Setting::recovery_target_time) {
        targets.push(Target::Time(moment(settings, text)?));
    }
    if let Some(text) = setting(Setting::recovery_target_xid) {
        let xid = text.parse().map_err(|_| invalid(Setting::recovery_target_xid, text))?;
        targets.push(Target::Xid(Xid(xid)));
    }
    if targets.len() > 1 {
        return Err(SqlError::fatal(
            SqlState::INVALID_PARAMETER_VALUE,
            "multiple recovery targets specified",
        )
        .detail(
            "At most one of \"recovery_target\", \"recovery_target_lsn\", \"recovery_target_name\", \
             \"recovery_target_time\", \"recovery_target_xid\" may be set."
                .to_owned(),
        ));
    }
    Ok(targets.pop())
}

/// A moment as a client would give it, in the server's time zone.
fn moment(settings: &ServerSettings, text: &str) -> SqlResult<i64> {
    let setting = Setting::recovery_target_time;
    if MOVING.iter().any(|word| text.to_ascii_lowercase().contains(word)) {
        return Err(invalid(setting, text));
    }
    let mut format = FormatContext::default();
    if let Some(zone) = TimeZone::named(settings.text(Setting::TimeZone)) {
        format.time_zone = zone;
    }
    match types::registry::input(oids::timestamptz, text, -1, &Call::new(&format)) {
        Ok(Datum::Int8(time)) => Ok(time),
        _ => Err(invalid(setting, text)),
    }
}
