//! Servers of tools, their tools' definitions as they were seen last, and what the person has allowed. A permission
//! holds for a server and for tools as they were when it was given. What is here is never in a file that goes out, and
//! never comes from one.

use foretoken_protocol::{
    CallDecision, ChatId, PermissionId, PermittedTool, PermittedTools, PinChange, ToolGrant, ToolPermission,
    ToolPin, ToolServer,
};
use rusqlite::{Connection, Row, named_params};

use crate::calls::must_be_json;
use crate::error::Fault;
use crate::sql::{all, first, now};
use crate::{ChatsError, Reader, Store, tree};

impl Reader {
    /// The servers, in the order of their slugs.
    pub fn tool_servers(&self) -> Result<Vec<ToolServer>, ChatsError> {
        let sql = "SELECT slug, name, transport, enabled, created_at FROM server ORDER BY slug";
        let read = |row: &Row<'_>| {
            Ok(ToolServer {
                slug: row.get(0)?,
                name: row.get(1)?,
                transport: row.get(2)?,
                enabled: row.get(3)?,
                created_at: row.get(4)?,
            })
        };
        self.read(|db| Ok(all(db, sql, [], read)?))
    }

    /// The tools of a server as they were seen last, by name.
    pub fn tool_pins(&self, server: &str) -> Result<Vec<ToolPin>, ChatsError> {
        let sql =
            "SELECT server, tool, fingerprint, definition, seen_at FROM pin WHERE server = ?1 ORDER BY tool";
        self.read(|db| Ok(all(db, sql, [server], pin)?))
    }

    /// What the person has allowed, oldest first; not what is of a deleted chat.
    pub fn tool_permissions(&self) -> Result<Vec<ToolPermission>, ChatsError> {
        self.read_at_once(permissions)
    }

    /// The permission that a call of a tool in a chat falls under: one for this server and this tool as they are. One
    /// for the tool goes before one for all of the server, and one for the chat before one that holds everywhere.
    pub fn allowed(
        &self,
        chat: ChatId,
        server: &str,
        server_fingerprint: &str,
        tool: &str,
        tool_fingerprint: &str,
    ) -> Result<Option<ToolGrant>, ChatsError> {
        let sql = "SELECT permission.id, permission.chat IS NOT NULL FROM permission
                   JOIN permission_tool ON permission_tool.permission = permission.id
                   LEFT JOIN chat ON chat.id = permission.chat
                   WHERE permission.server = :server AND permission.server_fingerprint = :server_fingerprint
                   AND permission_tool.tool = :tool AND permission_tool.fingerprint = :tool_fingerprint
                   AND (permission.chat IS NULL OR (permission.chat = :chat AND chat.deletion IS NULL))
                   ORDER BY permission.every_tool, permission.chat IS NULL, permission.id LIMIT 1";
        let values = named_params! {
            ":server": server,
            ":server_fingerprint": server_fingerprint,
            ":tool": tool,
            ":tool_fingerprint": tool_fingerprint,
            ":chat": chat,
        };
        let read = |row: &Row<'_>| {
            let decision =
                if row.get(1)? { CallDecision::AllowedInChat } else { CallDecision::AllowedAlways };
            Ok(ToolGrant { permission: row.get(0)?, decision })
        };
        self.read(|db| Ok(first(db, sql, values, read)?))
    }

    /// The tools of a chat as its prompts begin with them; `None` until there are any.
    pub fn frozen_tools(&self, chat: ChatId) -> Result<Option<String>, ChatsError> {
        self.read(|db| frozen(db, chat))
    }
}

impl Store {
    /// Adds a server, or changes the one of this slug, which stays as old as it is.
    pub fn put_tool_server(&mut self, server: &ToolServer) -> Result<(), ChatsError> {
        self.write(|db| {
            must_be_json("The transport of a server", &server.transport)?;
            let put = "INSERT INTO server (slug, name, transport, enabled, created_at)
                       VALUES (?1, ?2, ?3, ?4, ?5)
                       ON CONFLICT (slug) DO UPDATE SET name = ?2, transport = ?3, enabled = ?4";
            let ToolServer { slug, name, transport, enabled, created_at } = server;
            db.execute(put, (slug, name, transport, enabled, created_at))?;
            Ok(())
        })
    }

    /// Removes a server, with the definitions of its tools and all that was allowed of it.
    pub fn remove_tool_server(&mut self, slug: &str) -> Result<(), ChatsError> {
        self.write(|db| {
            for sql in [
                "DELETE FROM pin WHERE server = ?1",
                "DELETE FROM permission WHERE server = ?1",
                "DELETE FROM server WHERE slug = ?1",
            ] {
                db.execute(sql, [slug])?;
            }
            Ok(())
        })
    }

    /// Takes down how a tool is defined. Where it was defined otherwise, what was allowed of it goes at once.
    pub fn pin_tool(
        &mut self,
        server: &str,
        tool: &str,
        fingerprint: &str,
        definition: &str,
    ) -> Result<PinChange, ChatsError> {
        self.write(|db| {
            must_be_json("The definition of a tool", definition)?;
            let sql = "SELECT server, tool, fingerprint, definition, seen_at FROM pin
                 WHERE server = ?1 AND tool = ?2";
            let before = first(db, sql, (server, tool), pin)?;
            if before.as_ref().is_some_and(|before| before.fingerprint == fingerprint) {
                return Ok(PinChange::Same);
            }
            let put = "INSERT OR REPLACE INTO pin (server, tool, fingerprint, definition, seen_at)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            db.execute(put, (server, tool, fingerprint, definition, now()))?;
            let Some(before) = before else { return Ok(PinChange::New) };
            let of_tool = "DELETE FROM permission_tool WHERE tool = ?2
                           AND permission IN (SELECT id FROM permission WHERE server = ?1)";
            db.execute(of_tool, (server, tool))?;
            let empty = "DELETE FROM permission WHERE server = ?1
                         AND NOT EXISTS (SELECT 1 FROM permission_tool WHERE permission = permission.id)";
            db.execute(empty, [server])?;
            Ok(PinChange::Changed { before })
        })
    }

    /// Stores that the person allows tools of a server, as both are now, in a chat or everywhere.
    pub fn permit_tools(
        &mut self,
        server: &str,
        server_fingerprint: &str,
        tools: &PermittedTools,
        chat: Option<ChatId>,
    ) -> Result<PermissionId, ChatsError> {
        self.write(|db| {
            if let Some(chat) = chat {
                tree::must_exist(db, chat)?;
            }
            let (every, tools) = match tools {
                PermittedTools::One { tool } => (false, std::slice::from_ref(tool)),
                PermittedTools::Every { tools } => (true, &tools[..]),
            };
            let insert = "INSERT INTO permission (server, server_fingerprint, every_tool, chat, given_at)
                          VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id";
            let values = (server, server_fingerprint, every, chat, now());
            let id: PermissionId = db.query_row(insert, values, |row| row.get(0))?;
            for PermittedTool { tool, fingerprint } in tools {
                let insert = "INSERT OR REPLACE INTO permission_tool VALUES (?1, ?2, ?3)";
                db.execute(insert, (id, tool, fingerprint))?;
            }
            Ok(id)
        })
    }

    /// Takes back a permission, if it is there.
    pub fn revoke(&mut self, id: PermissionId) -> Result<(), ChatsError> {
        self.write(|db| Ok(db.execute("DELETE FROM permission WHERE id = ?1", [id]).map(drop)?))
    }

    /// Takes back all permissions.
    pub fn revoke_all(&mut self) -> Result<(), ChatsError> {
        self.write(|db| Ok(db.execute("DELETE FROM permission", []).map(drop)?))
    }

    /// Takes down the tools that the prompts of a chat begin with, if it has none yet, and returns those that it has.
    pub fn freeze_tools(&mut self, chat: ChatId, tools: &str) -> Result<String, ChatsError> {
        self.write(|db| match frozen(db, chat)? {
            Some(frozen) => Ok(frozen),
            None => {
                set_frozen(db, chat, Some(tools))?;
                Ok(tools.to_owned())
            }
        })
    }

    /// Replaces the tools of a chat, because the person says so: all of it is read again.
    pub fn replace_frozen_tools(&mut self, chat: ChatId, tools: Option<&str>) -> Result<(), ChatsError> {
        self.write(|db| {
            tree::must_exist(db, chat)?;
            Ok(set_frozen(db, chat, tools)?)
        })
    }
}

/// The tools that the prompts of a chat begin with.
pub(crate) fn frozen(db: &Connection, chat: ChatId) -> Result<Option<String>, Fault> {
    let sql = "SELECT tools_frozen FROM chat WHERE id = ?1 AND deletion IS NULL";
    Ok(first(db, sql, [chat], |row| row.get(0))?.ok_or(ChatsError::UnknownChat { id: chat })?)
}

/// Sets the tools that the prompts of a chat begin with.
pub(crate) fn set_frozen(db: &Connection, chat: ChatId, tools: Option<&str>) -> rusqlite::Result<()> {
    db.execute("UPDATE chat SET tools_frozen = ?2 WHERE id = ?1", (chat, tools)).map(drop)
}

fn pin(row: &Row<'_>) -> rusqlite::Result<ToolPin> {
    Ok(ToolPin {
        server: row.get("server")?,
        tool: row.get("tool")?,
        fingerprint: row.get("fingerprint")?,
        definition: row.get("definition")?,
        seen_at: row.get("seen_at")?,
    })
}

fn permissions(db: &Connection) -> Result<Vec<ToolPermission>, Fault> {
    let sql =
        "SELECT permission.id, server, server_fingerprint, every_tool, permission.chat, given_at, chat.title
               FROM permission LEFT JOIN chat ON chat.id = permission.chat
               WHERE chat.deletion IS NULL ORDER BY permission.id";
    let read = |row: &Row<'_>| {
        let permission = ToolPermission {
            id: row.get(0)?,
            server: row.get(1)?,
            server_fingerprint: row.get(2)?,
            tools: PermittedTools::Every { tools: Vec::new() },
            chat: row.get(4)?,
            chat_title: row.get(6)?,
            given_at: row.get(5)?,
        };
        Ok((permission, row.get::<_, bool>(3)?))
    };
    let mut found = Vec::new();
    for (permission, every) in all(db, sql, [], read)? {
        let sql = "SELECT tool, fingerprint FROM permission_tool WHERE permission = ?1 ORDER BY tool";
        let read = |row: &Row<'_>| Ok(PermittedTool { tool: row.get(0)?, fingerprint: row.get(1)? });
        let tools = all(db, sql, [permission.id], read)?;
        let tools = match <[PermittedTool; 1]>::try_from(tools) {
            Ok([tool]) if !every => PermittedTools::One { tool },
            Ok(tools) => PermittedTools::Every { tools: tools.into() },
            Err(tools) => PermittedTools::Every { tools },
        };
        found.push(ToolPermission { tools, ..permission });
    }
    Ok(found)
}
