//! Another database or server in the same shell, and files as tables of one.

use crate::complaint::Complaint;
use crate::place::{Place, parts};
use crate::remote::{Address, Remote};
use crate::shell::Shell;
use frazil::{Access, Block, Error, SqlState, identifier};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Shell {
    /// Opens another database in the place of this one, which is closed; both stay as they are if the other one does not open.
    /// 25001 in a transaction.
    pub fn switch(&mut self, paths: &[PathBuf], access: Access) -> Result<(), Complaint> {
        self.check_idle()?;
        let (directory, files) = parts(paths)?;
        let is_same = directory.is_some_and(|path| {
            let own = self
                .place
                .directory
                .as_ref()
                .and_then(|own| own.canonicalize().ok());
            own.is_some() && own == path.canonicalize().ok()
        });
        if is_same && access == self.place.access {
            return self.reconnect();
        }
        let (place, database) = Place::open(directory, access, &self.place.files)?;
        let before = std::mem::replace(&mut self.backend, Arc::new(database.connect()));
        std::mem::replace(&mut self.place, place).close(before)?;
        files.iter().try_for_each(|file| self.open_file(file))
    }

    /// 25001 in a transaction.
    fn check_idle(&self) -> Result<(), Complaint> {
        if self.backend.block() == Block::Idle {
            return Ok(());
        }
        let error = Error::new(SqlState::ACTIVE_TRANSACTION, "a transaction is open");
        Err(Complaint::from(error.with_hint("COMMIT or ROLLBACK it first")))
    }

    /// Connects to a server; the database before is closed, or stays if nobody lets the shell in. 25001 in a
    /// transaction.
    pub fn connect(&mut self, address: &Address) -> Result<(), Complaint> {
        self.check_idle()?;
        let remote = Remote::connect(address)?;
        let before = std::mem::replace(&mut self.backend, Arc::new(remote));
        std::mem::replace(&mut self.place, Place::server(address.clone())).close(before)
    }

    /// Opens another session of this database; the one before ends.
    pub fn reconnect(&mut self) -> Result<(), Complaint> {
        let database = self
            .embedded("\\connect", "\\connect takes a URL")?
            .database()
            .clone();
        self.backend = Arc::new(database.connect());
        Ok(())
    }

    /// Makes a table of a file, called as the file is up to its first dot; a second one of that name has a number behind it.
    pub fn open_file(&mut self, file: &Path) -> Result<(), Complaint> {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let bare = name.split('.').next().unwrap_or_default().to_owned();
        let taken = |name: &String| self.backend.structure(name).is_ok();
        let names = std::iter::once(bare.clone()).chain((2..).map(|number| format!("{bare}_{number}")));
        let name = names.into_iter().find(|name| !taken(name)).unwrap_or(bare);
        let name = identifier(&name);
        let path = file.display().to_string().replace('\'', "''");
        self.query(&format!("create table {name} as select * from '{path}'"))
            .map_err(Complaint::into_opening)?;
        if self.tells_opened {
            println!("{} is the table {name}.", file.display());
        }
        Ok(())
    }
}
