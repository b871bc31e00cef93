import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { jsonLine } from '../../audit/event.ts';
import { type AuditCounts, createAuditor, emptyAuditCounts, type Policy } from '../../audit/index.ts';
import {
  type Authorizer,
  anonymousAuthenticator,
  bearerAuthenticator,
  identityHeaders,
  mastersAuthorizer,
  RbacIndex,
  rbacAuthorizer,
  reviewHandlers,
  staticTokenAuthenticator,
  type TokenAuthenticator,
  unionAuthenticator,
  unionAuthorizer,
} from '../../auth/index.ts';
import { loadDefaultRoles } from '../../auth/testing/default-roles.ts';
import { type ParsedBody, parseYaml } from '../../codec/index.ts';
import { FlowControl, type MandatoryObjects } from '../../fairness/index.ts';
import {
  type ByteString,
  bufferOf,
  type Clock,
  decodeText,
  type Features,
  type Json,
  type JsonObject,
  namesFor,
  statusError,
  type User,
} from '../../meta/index.ts';
import { createRegistry, type Registry } from '../../registry/index.ts';
import { builtinResources, mandatoryFlows, mandatoryLevels } from '../../resources/index.ts';
import { openMemoryStore, type Store } from '../../store/index.ts';
import type { Tracer } from '../../tracing/index.ts';
import { describe } from '../../types/descriptions.ts';
import { findType } from '../../types/find-type.ts';
import {
  type ApiRequest,
  type ApiResponse,
  createHandler,
  createHealth,
  createInFlight,
  createMetrics,
  createNodeProxy,
  createNonResourceHandler,
  emptyCounts,
  type Handler,
  type HealthCheck,
  type InFlight,
  type InFlightLimits,
  type Metrics,
  type RequestEntry,
} from '../index.ts';

/** The machine's time, for what waits for sockets. */
export const realClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after: (ms, task) => {
    const timer = setTimeout(task, ms).unref();
    return () => clearTimeout(timer);
  },
};

export interface Fixture {
  readonly handler: Handler;
  readonly registry: Registry;
  readonly inFlight: InFlight;
  /** With the mandatory objects only. */
  readonly flowControl: FlowControl | undefined;
  /** Everything that was told to the log as an error, and every request. */
  readonly errors: { readonly text: string; readonly fields: { readonly [name: string]: unknown } }[];
  readonly requests: RequestEntry[];
  /** Everything that was told to the log as a warning. */
  readonly warnings: Fixture['errors'];
  /** The audit events so far; none without a policy. */
  readonly events: JsonObject[];
  readonly auditCounts: AuditCounts;
  /** Sends a request as the user of a token: `admin`, `jane`, `stale`, or none. */
  readonly send: (method: string, url: string, options?: SendOptions) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

export interface SendOptions {
  readonly token?: string;
  /** Undefined: no body. Text is sent as it is, all else as JSON. */
  readonly body?: string | Uint8Array | Json;
  /** Several values: sent once for each. */
  readonly headers?: { readonly [name: string]: string | readonly string[] };
  readonly signal?: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly headers: ApiResponse['headers'];
  readonly text: string;
  /** The pieces in which the body came. */
  readonly pieces: readonly Buffer[];
  readonly json: () => Json;
}

/** The used amount of each limit. */
export const usedOf = ({ limits }: InFlight) =>
  Object.fromEntries(Object.entries(limits).map(([name, { used }]) => [name, used]));

export interface FixtureOptions {
  readonly domain?: string;
  readonly limits?: Partial<InFlightLimits>;
  /** The seats of requests; absent: they have none. */
  readonly seats?: number;
  readonly features?: Partial<Features>;
  readonly clock?: Clock;
  readonly checks?: readonly HealthCheck[];
  readonly resources?: typeof builtinResources;
  /** Recognises tokens that the usual rules do not. */
  readonly authenticateToken?: TokenAuthenticator;
  /** Allows what the usual rules do not. */
  readonly authorize?: Authorizer;
  readonly policy?: Policy;
  /** Requests wait for the result, and are refused when it is false. Absent: they wait for no audit event. */
  readonly audited?: (event: JsonObject) => Promise<boolean>;
  /** In place of reading it in this thread. */
  readonly readYaml?: (bytes: Uint8Array, user: string) => Promise<ParsedBody>;
  readonly store?: Store;
  readonly tracer?: Tracer;
}

const users: { readonly [token: string]: User } = {
  admin: { name: 'admin', groups: ['system:masters', 'system:authenticated'] },
  jane: { name: 'jane', groups: ['system:authenticated'] },
};

/** The identifying headers when no flag names others. */
const noHeaders = { allowedNames: [], names: { user: [], uid: [], group: [], extraPrefix: [] } };
export const isIdentity = identityHeaders(() => noHeaders);

const audiences = ['here'];
const staticTokens = staticTokenAuthenticator(
  Object.entries(users).map(([token, user]) => ({ token, user })),
  audiences,
);
/** The token `stale` comes with an audit annotation. */
const authenticateToken: TokenAuthenticator = (token, wanted) =>
  token === 'stale'
    ? {
        user: { name: 'old', groups: [] },
        audiences: wanted,
        annotations: { 'authentication.k8s.io/stale-token': 'old' },
      }
    : staticTokens(token, wanted);
/** A whole server without sockets, over a store in memory, with all built-in kinds and the namespace `default`. */
export async function makeFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const names = namesFor(options.domain ?? 'k8s.io');
  const clock = options.clock ?? realClock;
  const store = options.store ?? openMemoryStore({ clock });
  const roles = new RbacIndex();
  const authenticate = unionAuthenticator(
    [authenticateToken, options.authenticateToken]
      .flatMap((one) => one ?? [])
      .map((one) => bearerAuthenticator(one, audiences)),
    anonymousAuthenticator(),
  );
  const authorize = unionAuthorizer([
    mastersAuthorizer,
    rbacAuthorizer(roles, names),
    ...(options.authorize === undefined ? [] : [options.authorize]),
  ]);
  let ids = 0;
  const inFlight = createInFlight({
    readOnly: 100,
    mutating: 100,
    longRunning: 1_000,
    proxied: 100,
    receiving: 64 * 1024 * 1024,
    responses: 64 * 1024 * 1024,
    unread: 64 * 1024 * 1024,
    selectors: 64 * 1024 * 1024,
    compressed: 256,
    ...options.limits,
  });
  const metrics = createMetrics(() => registry, inFlight, clock, { ...emptyCounts(), flowControl: () => flowControl });
  const flowControl = options.seats === undefined ? undefined : makeFlowControl(options.seats, clock, metrics);
  const registry: Registry = createRegistry({
    store,
    names,
    clock,
    random: {
      uuid: () => `00000000-0000-4000-8000-${String(ids++).padStart(12, '0')}`,
      integer: (below) => ids++ % below,
    },
    definitions: options.resources ?? builtinResources,
    admission: () => [],
    authorize: (user, { verb, ...resource }) => authorize({ user, verb, resource, path: '' }),
    features: options.features ?? {},
    reviewHandlers: reviewHandlers({ authenticateToken, authorize, names, audiences }),
  });
  loadDefaultRoles(roles, names, registry.features);
  const errors: Fixture['errors'] = [];
  const requests: RequestEntry[] = [];
  const warnings: Fixture['errors'] = [];
  const events: JsonObject[] = [];
  const auditCounts = emptyAuditCounts();
  const auditor =
    options.policy &&
    createAuditor({
      policy: options.policy,
      backends: [
        {
          mode: options.audited === undefined ? 'batch' : 'blocking-strict',
          write(made) {
            const event = JSON.parse(decodeText(jsonLine(made, names))) as JsonObject;
            events.push(event);
            return options.audited?.(event);
          },
          close: async () => {},
        },
      ],
      counts: auditCounts,
      clock,
      names,
      log: { warn: () => {} },
    });
  const log = {
    error: (text: string, fields: { readonly [name: string]: unknown }) => void errors.push({ text, fields }),
    warn: (text: string, fields: { readonly [name: string]: unknown }) => void warnings.push({ text, fields }),
    request: (entry: RequestEntry) => void requests.push(entry),
  };
  const health = createHealth(options.checks ?? defaultChecks, (check, error) =>
    log.error('health check failed', { check, error }),
  );
  const version = { major: '1', minor: '33', gitVersion: 'v1.33.0+test' };
  const nonResource = createNonResourceHandler({
    registry,
    names,
    clock,
    health,
    metrics,
    flowControl,
    version,
    serverAddress: () => '127.0.0.1:6443',
    findType,
    describe,
  });
  const nodeProxy = createNodeProxy({ clock: realClock, trust: {}, connectMs: 5_000, isIdentity });
  const handler = createHandler({
    registry,
    names,
    findType,
    authenticate,
    authorize,
    auditor,
    clock,
    random: { uuid: randomUUID },
    log,
    metrics,
    flowControl,
    nonResource,
    nodeProxy,
    tracer: options.tracer,
    readYaml: options.readYaml ?? (async (bytes) => parseYaml(bytes)),
  });
  const send: Fixture['send'] = async (method, url, sent = {}) =>
    readAnswer(await handler(requestOf(method, url, sent)));
  await send('POST', '/api/v1/namespaces', { body: { metadata: { name: 'default' } } });
  return {
    handler,
    registry,
    inFlight,
    flowControl,
    errors,
    requests,
    warnings,
    events,
    auditCounts,
    send,
    async close() {
      nodeProxy.close();
      registry.close();
      await store.close();
    },
  };
}

const makeFlowControl = (seats: number, clock: Clock, { flows }: Metrics): FlowControl =>
  new FlowControl({
    clock,
    observer: flows,
    seats,
    mandatory: { schemas: mandatoryFlows, levels: mandatoryLevels } as unknown as MandatoryObjects,
  });

const everywhere = ['healthz', 'livez', 'readyz'] as const;
const defaultChecks: readonly HealthCheck[] = ['ping', 'log', 'etcd', 'shutdown'].map((name) => ({
  name,
  check: () => {},
  endpoints: name === 'shutdown' ? ['readyz'] : everywhere,
}));

export function requestOf(method: string, url: string, options: SendOptions = {}): ApiRequest {
  const { token = 'admin', body, headers = {}, signal = new AbortController().signal } = options;
  const raw = body === undefined || body instanceof Uint8Array || typeof body === 'string';
  const bytes = body instanceof Uint8Array ? body : Buffer.from(raw ? ((body as string) ?? '') : JSON.stringify(body));
  const sent: { readonly [name: string]: string | readonly string[] } = {
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...headers,
  };
  return {
    method,
    url,
    headers: Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, [value].flat().join(', ')])),
    headerValues: (name) => [sent[name] ?? []].flat(),
    peer: { address: '', network: '', certificate: undefined },
    body: (limit) => (bytes.length > limit ? Promise.reject(statusError.tooLarge(limit)) : Promise.resolve(bytes)),
    stream: () => (bytes.length === 0 ? undefined : Readable.from([bytes])),
    upgrades: false,
    signal,
  };
}

async function readAnswer({ status, headers, body }: ApiResponse): Promise<Answer> {
  const pieces: Buffer[] = [];
  const bytes = (piece: ByteString | Uint8Array) => (typeof piece === 'string' ? bufferOf(piece) : Buffer.from(piece));
  if (typeof body === 'string' || body instanceof Uint8Array) pieces.push(bytes(body));
  else for await (const piece of body) pieces.push(bytes(piece));
  const text = Buffer.concat(pieces).toString();
  return { status, headers, text, pieces, json: () => JSON.parse(text) as Json };
}

/** PEM of a certificate authority, a server certificate for 127.0.0.1 and a client certificate. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

/** Fresh certificates, good for a day. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'http-test-'));
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  try {
    openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=test-ca', '-days', '1');
    const sign = (name: string, subject: string, extensions: string) => {
      writeFileSync(join(folder, `${name}.ext`), extensions);
      openssl('req', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject);
      const from = ['-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'];
      openssl('x509', '-req', ...from, '-out', `${name}.crt`, '-days', '1', '-extfile', `${name}.ext`);
    };
    sign('server', '/CN=server', 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n');
    sign('client', '/O=team-a/O=team-b/CN=jane', 'extendedKeyUsage=clientAuth\n');
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    return {
      ca: read('ca.crt'),
      cert: read('server.crt'),
      key: read('server.key'),
      clientCert: read('client.crt'),
      clientKey: read('client.key'),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A request for a certificate, as `spec.request` holds it. Written by openssl: `req -new -subj /CN=x`, with an Ed25519 key. */
export const certificateRequest = Buffer.from(`-----BEGIN CERTIFICATE REQUEST-----
MIGLMD8CAQAwDDEKMAgGA1UEAwwBeDAqMAUGAytlcAMhAF7TgBuPTX/rJN90ZINhPwe5tDf1xmvjqSG0GkC7cxq/oAAwBQYDK2VwA0EAOrfNzqptenHuzsEFH2TpzNnOHIcpbb9rlWxJiSH/qJU/6W9p0zl4DefLVn4tkdS+02DtjSMTtKG3eIj1Q61ZBg==
-----END CERTIFICATE REQUEST-----
`).toString('base64');
