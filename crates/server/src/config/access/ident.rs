//! `pg_ident.conf`: which role a user of another system may be.
//!
//! # PostgreSQL counterpart
//! `load_ident`, `check_usermap` (`hba.c`).

use std::path::Path;
use std::sync::Arc;

use base::SqlError;

use super::file::{Line, Word};
use super::{Surroundings, file, fits_user};

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Name of the map.
    pub map: String,
    /// User of the other system.
    pub system_user: Word,
    /// Role.
    pub role: Word,
    /// File it stands in.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
}

/// All maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maps(Vec<Mapping>);

/// What each line that says something is, or what is wrong with it.
type Read = Vec<(Line, Result<Mapping, SqlError>)>;

/// The lines of a file.
pub fn lines(path: &Path) -> Result<Read, SqlError> {
    let lines = file::read(path)?;
    Ok(lines
        .into_iter()
        .map(|line| {
            let mapping = mapping(&line);
            (line, mapping)
        })
        .collect())
}

fn mapping(line: &Line) -> Result<Mapping, SqlError> {
    let fields = line.fields.as_ref().map_err(Clone::clone)?;
    let word = |at: usize| match fields.get(at).map(Vec::as_slice) {
        None => Err(line.flaw("missing entry at end of line", None)),
        Some([word]) => Ok(word),
        Some(_) => Err(line.flaw("multiple values in ident field", None)),
    };
    let (map, system_user, role) = (word(0)?, word(1)?, word(2)?);
    for word in [system_user, role] {
        word.check().map_err(|message| line.flaw(message, None))?;
    }
    Ok(Mapping {
        map: map.text.clone(),
        system_user: system_user.clone(),
        role: role.clone(),
        file: line.file.clone(),
        line: line.number,
    })
}

impl Maps {
    /// Reads the file; errors are for the log, and none of the maps is to be used then.
    pub fn read(path: &Path) -> Result<Maps, Vec<SqlError>> {
        let mut maps = Vec::new();
        let mut flaws = Vec::new();
        for (_, mapping) in lines(path).map_err(|flaw| vec![flaw])? {
            match mapping {
                Ok(mapping) => maps.push(mapping),
                Err(flaw) => flaws.push(flaw),
            }
        }
        if flaws.is_empty() { Ok(Maps(maps)) } else { Err(flaws) }
    }

    /// Whether a user of another system may be this role. Without a map the names must be the same. The error says, for the log, why not.
    pub fn allow(
        &self,
        map: Option<&str>,
        role: &str,
        system_user: &str,
        around: &dyn Surroundings,
    ) -> Result<(), String> {
        let Some(map) = map.filter(|map| !map.is_empty()) else {
            if role == system_user {
                return Ok(());
            }
            return Err(format!(
                "provided user name ({role}) and authenticated user name ({system_user}) do not match"
            ));
        };
        for mapping in self.0.iter().filter(|mapping| mapping.map == map) {
            if mapping.allows(role, system_user, around)? {
                return Ok(());
            }
        }
        Err(format!("no match in usermap \"{map}\" for user \"{role}\" authenticated as \"{system_user}\""))
    }
}

impl Mapping {
    fn allows(&self, role: &str, system_user: &str, around: &dyn Surroundings) -> Result<bool, String> {
        let Some(pattern) = self.system_user.pattern() else {
            return Ok(self.system_user.text == system_user && fits_user(&self.role, role, around));
        };
        let groups = types::text::regex_groups(system_user, pattern).map_err(|error| {
            format!("regular expression match for \"{pattern}\" failed: {}", error.message())
        })?;
        let Some(groups) = groups else { return Ok(false) };
        let is_name = self.role.pattern().is_none() && (self.role.quoted || !self.role.text.starts_with('+'));
        if !is_name || !self.role.text.contains("\\1") {
            return Ok(fits_user(&self.role, role, around));
        }
        let Some(group) = groups.get(1).cloned().flatten() else {
            let text = &self.role.text;
            return Err(format!(
                "regular expression \"{pattern}\" has no subexpressions as requested by backreference in \"{text}\""
            ));
        };
        // A name from outside is taken literally.
        Ok(self.role.text.replacen("\\1", &group, 1) == role)
    }
}
