import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import Provider from 'oidc-provider';

export interface IdentityProviderOptions {
  readonly tls: { readonly cert: string; readonly key: string };
  /** The client of everybody who signs in, without a secret. */
  readonly client: string;
  /** The groups of each user. */
  readonly groups: { readonly [user: string]: readonly string[] };
}

/** A real identity provider at an address of its own. */
export interface IdentityProvider {
  readonly issuer: string;
  /** The origin of its token endpoint. */
  readonly tokenOrigin: string;
  /** Lets users return to an address, and forgets who has logged in. */
  readonly allowRedirect: (uri: string) => void;
  /** Signs with another key, and forgets who has logged in. */
  readonly useKey: (jwk: JWK) => void;
  /** Closes the address. */
  readonly leave: () => Promise<void>;
  /** Listens at the address again. */
  readonly comeBack: () => Promise<void>;
  /** Idempotent. */
  readonly close: () => Promise<void>;
}

export async function newKey(kid: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
}

export async function startIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  let jwk = await newKey('first');
  const redirectUris: string[] = [];
  let handle: ReturnType<typeof providerOf> | undefined;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    handle ??= providerOf({ issuer, tokenOrigin, jwk, redirectUris }, options);
    void handle(request, response);
  };
  const server = https.createServer(options.tls, answer);
  const tokenServer = https.createServer(options.tls, answer);
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  tokenServer.listen(0, '127.0.0.1');
  await once(tokenServer, 'listening');
  const originOf = (of: https.Server) => `https://127.0.0.1:${(of.address() as AddressInfo).port}`;
  const [issuer, tokenOrigin] = [originOf(server), originOf(tokenServer)];
  const { port } = server.address() as AddressInfo;
  const closed = async (of: https.Server) => {
    of.closeAllConnections();
    await new Promise((resolve) => of.close(resolve));
  };
  const leave = () => closed(server);
  return {
    issuer,
    tokenOrigin,
    allowRedirect: (uri) => {
      redirectUris.push(uri);
      handle = undefined;
    },
    useKey: (other) => {
      jwk = other;
      handle = undefined;
    },
    leave,
    comeBack: () => listen(port),
    close: async () => {
      for (const one of [server, tokenServer]) if (one.listening) await closed(one);
    },
  };
}

/** The page on which users confirm that they sign out. */
const logoutSource = async (context: { body: string }, form: string) => {
  const button = '<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out here</button>';
  context.body = `<!doctype html><title>Sign out</title>${form}${button}`;
};

interface ProviderState {
  readonly issuer: string;
  readonly tokenOrigin: string;
  readonly jwk: JWK;
  readonly redirectUris: string[];
}

/** Users are logged in and have consented when `login_hint` names them; others choose on a page who they are. */
function providerOf(
  { issuer, tokenOrigin, jwk, redirectUris }: ProviderState,
  { client, groups }: IdentityProviderOptions,
) {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client,
        redirect_uris: redirectUris,
        post_logout_redirect_uris: redirectUris,
        token_endpoint_auth_method: 'none',
        grant_types: ['implicit', 'authorization_code', 'refresh_token'],
        response_types: ['id_token', 'code'],
      },
    ],
    clientBasedCORS: () => true,
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key for cookies'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
    interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    responseTypes: ['id_token', 'code'],
    claims: { openid: ['sub', 'groups'] },
    // Claims of the user are in the ID token, not in a document of their own.
    conformIdTokenClaims: false,
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, groups: groups[sub] }) }),
    loadExistingGrant: async ({ oidc }: GrantContext) => {
      const grant = new oidc.provider.Grant({ clientId: client, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid offline_access');
      await grant.save();
      return grant;
    },
  });
  // As large providers do it.
  provider.use(async (context, next) => {
    await next();
    if (context.oidc?.route === 'discovery') context.body['token_endpoint'] = `${tokenOrigin}/token`;
  });
  const answer = provider.callback();
  return async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    if (!pathname.startsWith('/interaction/')) {
      await answer(request, response);
      return;
    }
    const { params } = await provider.interactionDetails(request, response);
    const user = searchParams.get('user') ?? params.login_hint;
    const finish = (result: object) => provider.interactionFinished(request, response, result);
    if (searchParams.has('deny')) await finish({ error: 'access_denied', error_description: '<i>not today</i>' });
    else if (user !== undefined) await finish({ login: { accountId: user }, consent: {} });
    else {
      const links = Object.keys(groups).map((name) => `<a href="?user=${name}">${name}</a>`);
      response.end(`<!doctype html><title>Who are you?</title>${links.join(' ')} <a href="?deny">deny</a>`);
    }
  };
}

interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<unknown>;
}
interface GrantContext {
  readonly oidc: {
    readonly provider: { readonly Grant: new (of: { clientId: string; accountId: string | undefined }) => Grant };
    readonly session: { readonly accountId?: string };
  };
}
