"""A server with the SDK for Python that lets nobody in who has not signed in. Whoever asks in a browser is let in at
once, unless there is a file called "refuse" in its folder. Access lasts for as many seconds as the second argument says."""

import secrets
import sys
import time
from pathlib import Path

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken

port, seconds = int(sys.argv[1]), int(sys.argv[2])
address = f"http://127.0.0.1:{port}"


class Doorkeeper:
    def __init__(self):
        self.clients, self.codes, self.access, self.refreshing, self.refreshed = {}, {}, {}, {}, 0

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        back = str(params.redirect_uri)
        if Path("refuse").exists():
            return construct_redirect_uri(back, error="access_denied", state=params.state)
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(back, code=code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    def grant(self, client, scopes, resource):
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.access[access] = AccessToken(
            token=access,
            client_id=client.client_id,
            scopes=scopes,
            expires_at=int(time.time()) + seconds,
            resource=resource,
        )
        self.refreshing[refresh] = RefreshToken(
            token=refresh, client_id=client.client_id, scopes=scopes, resource=resource
        )
        return OAuthToken(
            access_token=access, refresh_token=refresh, expires_in=seconds, scope=" ".join(scopes)
        )

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self.grant(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client, refresh_token):
        return self.refreshing.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        self.refreshed += 1
        del self.refreshing[refresh_token.token]
        return self.grant(client, scopes or refresh_token.scopes, refresh_token.resource)

    async def load_access_token(self, token):
        found = self.access.get(token)
        return found if found and found.expires_at >= time.time() else None

    async def revoke_token(self, token):
        self.access.pop(token.token, None)


doorkeeper = Doorkeeper()
server = MCPServer(
    "vault",
    auth_server_provider=doorkeeper,
    auth=AuthSettings(
        issuer_url=address,
        resource_server_url=f"{address}/mcp",
        validate_token_resource=True,
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["read"], default_scopes=["read"]
        ),
        required_scopes=["read"],
    ),
)


@server.tool()
def refreshed() -> str:
    """How often access was refreshed."""
    return f"refreshed {doorkeeper.refreshed} times"


@server.tool()
def throw_out() -> str:
    """Lets nobody in any more who is in."""
    doorkeeper.access.clear()
    doorkeeper.refreshing.clear()
    return "done"


server.run("streamable-http", port=port)
