//! Files of dictionaries, line by line.

use std::io;

use base::{SqlError, SqlResult, sql_err};
use runtime::pace::Pace;

use super::World;

/// A file for text search: letters, digits and underscores, and what stands behind the dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File<'n> {
    /// Name.
    pub name: &'n str,
    /// What it has: `stop`, `syn`, `ths`, `dict`, `affix` or `rules`.
    pub extension: &'static str,
}

/// The text of a file.
pub struct Text {
    text: String,
    path: String,
}

impl Text {
    /// Reads a file. `what`: what messages call it.
    ///
    /// # Errors
    /// The name is not allowed for such a file, or the file cannot be read.
    pub fn read(world: &dyn World, name: &str, extension: &'static str, what: &str) -> SqlResult<Text> {
        Text::open(world, File { name, extension })?.map_err(|unread| unread.told(what))
    }

    /// The same, for a file that need not be there.
    ///
    /// # Errors
    /// As [`read`](Text::read).
    pub fn read_if_there(
        world: &dyn World,
        name: &str,
        extension: &'static str,
        what: &str,
    ) -> SqlResult<Option<Text>> {
        match Text::open(world, File { name, extension })? {
            Ok(text) => Ok(Some(text)),
            Err(unread) if unread.error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(unread) => Err(unread.told(what)),
        }
    }

    fn open(world: &dyn World, file: File<'_>) -> SqlResult<Result<Text, Unread>> {
        let name = file.name;
        if !name.chars().all(|c| matches!(c, 'a'..='z' | '0'..='9' | '_')) {
            return Err(sql_err!(
                INVALID_PARAMETER_VALUE,
                "invalid text search configuration file name \"{name}\""
            ));
        }
        let path = world.path(&file);
        Ok(match world.read(&file)? {
            Ok(text) => Ok(Text { text, path }),
            Err(error) => Err(Unread { path, error }),
        })
    }

    /// All of it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Reads the lines one by one; an error says in which line it came up.
    pub(super) fn each<'t>(&'t self, read: &mut dyn FnMut(&'t str) -> SqlResult<()>) -> SqlResult<()> {
        let mut pace = Pace::new();
        for (number, line) in self.text.lines().enumerate() {
            pace.did(64 + 4 * line.len())?;
            read(line).map_err(|error| {
                let (number, path) = (number + 1, &self.path);
                error.context(format!("line {number} of configuration file \"{path}\": \"{line}\""))
            })?;
        }
        Ok(())
    }
}

/// A file that could not be read.
struct Unread {
    path: String,
    error: io::Error,
}

impl Unread {
    fn told(&self, what: &str) -> SqlError {
        let (path, why) = (&self.path, base::os::os_error(&self.error));
        sql_err!(CONFIG_FILE_ERROR, "could not open {what} file \"{path}\": {why}")
    }
}

/// A file that is not what it should be.
pub(super) fn bad(message: impl Into<String>) -> SqlError {
    SqlError::new(base::SqlState::CONFIG_FILE_ERROR, message)
}
