// Starts and fills the measured servers, and sends requests to them. Each is a child process.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { etcdProgram } from '../scripts/etcd.mjs';
import { computedBy } from './computed.mjs';

/**
 * @typedef {{ child: import('node:child_process').ChildProcess, pid: number, ms: number, port: number }} Program
 * @typedef {Program & { ca: string }} Server
 */

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'orch-bench-'));
/** The token of an administrator. */
export const token = 'bench-token-of-an-administrator';
/** The token of a user whose rights come from roles. */
export const userToken = 'bench-token-of-an-ordinary-user';
/** The tokens of users of the row `noisy`, by name. */
export const tenantTokens = { noisy: 'bench-noisy', quiet: 'bench-quiet', 'system:kube-scheduler': 'bench-scheduler' };
const tokens = [
  `${token},bench,bench,"system:masters"`,
  `${userToken},user-0,user-0,"group-0"`,
  ...Object.entries(tenantTokens).map(([name, own]) => `${own},${name},${name}`),
].join('\n');
writeFileSync(join(folder, 'tokens.csv'), tokens, { mode: 0o600 });

export const configMaps = '/api/v1/namespaces/bench/configmaps';
export const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @type {import('node:child_process').ChildProcess[]} */
const children = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Starts a program and waits for a line of its output.
 * @param {string[]} args
 * @param {RegExp} ready
 * @returns {Promise<Program>}
 */
async function start(args, ready) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  children.push(child);
  const began = process.hrtime.bigint();
  const match = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (piece) => {
      text += piece;
      const found = ready.exec(text);
      if (found) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`${args[0]} ended with ${code}: ${text}`)));
  });
  return { child, pid: child.pid ?? 0, ms: Number(process.hrtime.bigint() - began) / 1e6, port: Number(match[1]) };
}

/** A server with the durable store, in a folder with this name. @param {string} name @param {string[]} node @param {string[]} flags @returns {Promise<Server>} */
export async function orch(name, node = [], flags = []) {
  const program = await start(
    [
      ...node,
      join(here, '../dist/server/main.js'),
      'serve',
      '--secure-port=0',
      '--store=lmdb',
      `--data-dir=${join(folder, name)}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--max-requests-inflight=3000',
      '--max-mutating-requests-inflight=3000',
      ...flags,
    ],
    /is ready at https:\/\/127\.0\.0\.1:(\d+)/,
  );
  return { ...program, ca: join(folder, name, 'ca.crt') };
}

/**
 * An etcd of one member that syncs its files, with the flags of a server over it; undefined where there is no etcd.
 * @param {string} name @returns {Promise<{ url: string, flags: string[], end: () => void } | undefined>}
 */
export async function etcd(name) {
  const program = etcdProgram();
  if (program === undefined) return undefined;
  const [client, peer] = [await freePort(), await freePort()].map((port) => `http://127.0.0.1:${port}`);
  const args = [
    `--data-dir=${join(folder, name)}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
  ];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  await new Promise((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (piece) => {
      text = (text + piece).slice(-4_000);
      if (text.includes('serving client traffic')) resolve(undefined);
    });
    child.on('exit', (code) => reject(new Error(`etcd ended with ${code}: ${text}`)));
  });
  const flags = ['--store=etcd', `--etcd-servers=${client}`];
  return { url: String(client), flags, end: () => child.kill() };
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/** A server with the probe of its event loop loaded. @param {string} name */
export const probed = (name) => orch(name, ['--import', join(here, 'probe.mjs')]);

/** A baseline program with the certificate of a server and this response body. @param {string} kind @param {Server} of @param {Uint8Array | string} body @returns {Promise<Server>} */
export async function bare(kind, of, body) {
  writeFileSync(join(folder, 'body'), body);
  const home = dirname(of.ca);
  const files = [join(home, 'server.crt'), join(home, 'server.key'), folder];
  return { ...(await start([join(here, 'bare.mjs'), kind, ...files], /^(\d+)/)), ca: of.ca };
}

/**
 * An identity provider with the certificate of a server: the flags of a server that accepts its tokens, and a token of a
 * user. @param {Server} of
 */
export async function identityProvider(of) {
  const home = dirname(of.ca);
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one' }] };
  const tls = { cert: readFileSync(join(home, 'server.crt')), key: readFileSync(join(home, 'server.key')) };
  const provider = https.createServer(tls, ({ url }, response) => {
    const document = url === '/keys' ? keys : { issuer, jwks_uri: `${issuer}/keys` };
    response.end(JSON.stringify(document));
  });
  await new Promise((resolve) => provider.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (provider.address());
  const issuer = `https://127.0.0.1:${port}`;
  const signer = new SignJWT({ groups: ['system:masters'] }).setProtectedHeader({ alg: 'RS256', kid: 'one' });
  const claims = signer.setIssuer(issuer).setAudience('bench').setSubject('jane').setExpirationTime('1h');
  return {
    flags: [
      `--oidc-issuer-url=${issuer}`,
      '--oidc-client-id=bench',
      `--oidc-ca-file=${of.ca}`,
      '--oidc-groups-claim=groups',
    ],
    token: await claims.sign(privateKey),
    close: () => provider.close(),
  };
}

const agent = new https.Agent({ keepAlive: true, maxSockets: 64 });

/** @param {{ port: number }} server @param {string} method @param {string} path @param {unknown} [body] @param {{ [name: string]: string }} [headers] @returns {Promise<Buffer>} */
export function call({ port }, method, path, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        rejectUnauthorized: false,
        agent,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      },
      (response) => {
        /** @type {Buffer[]} */
        const pieces = [];
        response.on('data', (piece) => pieces.push(piece));
        response.on('end', () => {
          const answer = Buffer.concat(pieces);
          if ((response.statusCode ?? 500) < 300) resolve(answer);
          else reject(new Error(answer.toString()));
        });
      },
    );
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/**
 * Runs a job in the load generator; `computed` is the CPU time of the server per request or event (s).
 * @param {object} job @param {Server} server
 */
export async function load(job, server) {
  const { port, ca } = server;
  const before = computedBy(server.pid);
  const args = [join(here, 'load.mjs'), JSON.stringify({ token, ...job, port, ca, pid: server.pid })];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
  /** @type {{ rate: number, count: number, failed?: number, kilobytes?: number, slower?: number, times?: number[], computed?: number, computedEach?: number[], computedInTurns?: number[][] }} */
  const result = JSON.parse(stdout);
  if (result.failed) throw new Error(`${result.failed} requests failed: ${JSON.stringify(job).slice(0, 300)}`);
  return { ...result, computed: result.computed ?? (computedBy(server.pid) - before) / result.count };
}

/**
 * Opens the connections of a job in the load generator, with a low priority. It begins to send requests at `start`, and
 * stops at `end`.
 * @param {object} job @param {Server} server
 */
export async function noise(job, { port, ca }) {
  const args = [join(here, 'load.mjs'), JSON.stringify({ token, ...job, port, ca, told: true })];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  children.push(child);
  /** @returns {Promise<any>} */
  const message = () =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', () => reject(new Error('the load generator has ended')));
    });
  await message();
  return {
    start: () => void child.send('start'),
    /** @returns {Promise<{ rate: number, failed: number }>} */
    end: () => {
      child.send('end');
      return message();
    },
  };
}

/** @param {string} name @param {number} size bytes of the stored object, more or less @param {number} [part] a label, one of a hundred */
export const configMap = (name, size, part = 0) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench', part: `p${part % 100}` } },
  data: { a: 'x'.repeat(size / 2 - 200), b: 'y'.repeat(size / 2 - 200) },
});

/** Creates the namespace and `count` objects in it. @param {Server} server @param {number} count @param {number} size */
export async function fill(server, count, size) {
  const metadata = { name: 'bench' };
  await call(server, 'POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  await fillMore(server, count, size);
}

/** Creates `count` objects in the namespace. @param {Server} server @param {number} count @param {number} size */
export const fillMore = (server, count, size) =>
  repeat(count, (i) => call(server, 'POST', configMaps, configMap(`obj-${String(i).padStart(7, '0')}`, size, i)));

/** Does the work for each number below `count`, 64 at a time. @param {number} count @param {(i: number) => Promise<unknown>} work */
async function repeat(count, work) {
  let next = 0;
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

/**
 * Binds users and groups to a role in 100 namespaces and in `bench`, where one binding is that of the user of `userToken`.
 * One binding of a hundred is of that user, one of a hundred of a group of that user.
 * @param {Server} server @param {number} count
 */
export async function bind(server, count) {
  const rbac = 'rbac.authorization.orch.io';
  const kind = { apiVersion: `${rbac}/v1`, kind: 'RoleBinding' };
  const roleRef = { apiGroup: rbac, kind: 'ClusterRole', name: 'bench-reader' };
  const subject = (/** @type {string} */ type, /** @type {number} */ i) => ({
    kind: type,
    apiGroup: rbac,
    name: `${type.toLowerCase()}-${i}`,
  });
  const path = (/** @type {string} */ namespace) => `/apis/${rbac}/v1/namespaces/${namespace}/rolebindings`;
  await call(server, 'POST', `/apis/${rbac}/v1/clusterroles`, {
    ...kind,
    kind: 'ClusterRole',
    metadata: { name: roleRef.name },
    rules: [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'configmaps'] }],
  });
  await repeat(100, (i) =>
    call(server, 'POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: `team-${i}` },
    }),
  );
  const own = { ...kind, metadata: { name: 'own' }, roleRef, subjects: [subject('User', 0)] };
  await call(server, 'POST', path('bench'), own);
  await repeat(count - 1, (i) => {
    const user = Math.floor(i / 100);
    const subjects = [subject(i % 2 === 0 ? 'User' : 'Group', user)];
    return call(server, 'POST', path(i % 10 === 0 ? 'bench' : `team-${i % 100}`), {
      ...kind,
      metadata: { name: `binding-${i}` },
      roleRef,
      subjects,
    });
  });
}

/** A value of /proc/PID/status in MB; NaN where there is none. @param {Server} server @param {string} key */
export function memory({ pid }, key) {
  try {
    return Number(new RegExp(`${key}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** The longest turn of a probed server's event loop during `work` (ms). @param {Server} server @param {() => Promise<unknown>} work */
export async function longestHold({ child }, work) {
  const answer = () => new Promise((resolve) => child.once('message', resolve));
  const begun = answer();
  child.send('begin');
  await begun;
  await work();
  const ended = answer();
  child.send('end');
  return Number(await ended);
}

/** The live memory of a probed server after a garbage collection (KB). @param {Server} server */
export async function liveMemory({ child }) {
  const answer = new Promise((resolve) => child.once('message', resolve));
  child.send('memory');
  return Number(await answer) / 1024;
}
