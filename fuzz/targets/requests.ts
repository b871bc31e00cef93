import { parseJson } from '../../src/codec/index.ts';
import { impersonate } from '../../src/http/impersonate.ts';
import { ClientFrames } from '../../src/http/relay/web-socket.ts';
import { hasImpersonation, identify, splitAtRest } from '../../src/http/request-info.ts';
import { defaultFeatures, isJsonObject, statusError } from '../../src/meta/index.ts';
import { requestedSubject } from '../../src/pki/index.ts';
import { deleteOptionsOf, readWriteOptions } from '../../src/registry/index.ts';
import { checkListOptions, checkWatchOptions, readNumbers, readVersion } from '../../src/registry/read/parameters.ts';
import { formatToken, readToken } from '../../src/registry/read/token.ts';
import { readDeleteOptions } from '../../src/registry/write/delete-options.ts';
import { compile, type StructSchema } from '../../src/schema/index.ts';
import { findType } from '../../src/types/find-type.ts';
import { names } from '../names.ts';
import type { Random } from '../random.ts';
import { headerSize, law, type Target } from '../target.ts';
import { oddJson } from '../texts.ts';
import { anyText, changed, valueFor } from '../values.ts';

const seedsOf = (...texts: readonly string[]) => texts.map((text) => Buffer.from(text));
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** A method and a URL, separated by a space. */
const requestInfo: Target = {
  name: 'http-request-info',
  limit: headerSize,
  seeds: seedsOf(
    'GET /api/v1/namespaces/default/pods/web/proxy/a%2Fb?x=1',
    'POST /apis/apps/v1/namespaces/n/deployments?dryRun=All',
    'DELETE https://host/apis/apps/v1/watch/namespaces/n/deployments/',
    'deletecollection /api/v1/nodes?watch=0&fieldSelector=metadata.name%3Da',
    'GET /apis',
  ),
  words: [
    '/',
    '//',
    '%2f',
    '%',
    '%00',
    '%ff',
    '?',
    '&',
    '=',
    '+',
    '..',
    '/api/v1',
    '/watch',
    '/namespaces/',
    '/proxy/',
    'watch=true',
    '#',
    'http://',
  ],
  run: (bytes) => {
    const [method = '', ...rest] = textOf(bytes).split(' ');
    const url = rest.join(' ');
    const info = identify(method, url);
    for (const [name, value] of Object.entries(info.resource ?? {})) {
      law(
        typeof value !== 'string' || name === 'rest' || !value.includes('/') || url.includes('%'),
        'a part has no slash',
      );
    }
    const { before, rest: after } = splitAtRest(url, info);
    law(!url.startsWith('/') || before + after === url, 'a URL that was split is whole');
  },
};

const noUser = { name: 'u', groups: ['g'], extra: {} };
const allowAll = Object.assign(() => ({ allowed: true, reason: '' }), {
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
});

const impersonation: Target = {
  name: 'http-impersonation',
  limit: headerSize,
  seeds: seedsOf(
    'impersonate-user: a\nimpersonate-group: b\nimpersonate-extra-scopes: c',
    'impersonate-user: system:serviceaccount:n:s\nimpersonate-uid: 1\nimpersonate-extra-%41%zz: d',
  ),
  words: [
    'impersonate-',
    'impersonate-user: ',
    'impersonate-group: ',
    'impersonate-extra-',
    ':',
    ',',
    '\n',
    '%',
    'system:anonymous',
    'system:serviceaccount:a:',
  ],
  run: async (bytes) => {
    const lines = Buffer.from(bytes).toString('latin1').split('\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':', 1)[0]?.toLowerCase() ?? '', line.slice(line.indexOf(':') + 1).trim()]),
    );
    if (!hasImpersonation(headers)) return;
    const user = await impersonate(noUser, { headers }, allowAll, names, () =>
      statusError.forbidden(undefined, '', 'no'),
    );
    law(user === noUser || user.name !== '', 'nobody is impersonated without a name');
  },
};

const key = 'key of the tokens';
const scope = '/api/v1/pods';

const continueToken: Target = {
  name: 'registry-continue-token',
  limit: headerSize,
  seeds: seedsOf(
    formatToken(key, scope, { revision: 12, after: 'default/a', began: 0 }),
    formatToken('other', scope, { revision: 0, after: '', began: 0 }),
  ),
  words: [
    '=',
    '-',
    '_',
    'A',
    Buffer.from('"rv":').toString('base64url'),
    Buffer.from('{"rv":1,"start":"a"').toString('base64url'),
  ],
  generate: (random) => {
    const made = { rv: random.below(9), start: anyText(random), key: anyText(random), mac: anyText(random) };
    return Buffer.from(oddJson(random, changed(random, made))).toString('base64url');
  },
  run: (bytes) => {
    const text = textOf(bytes);
    const place = readToken(key, scope, text);
    law(formatToken(key, scope, place) === text, 'only a token that was given out is read');
  },
};

const options = findType('meta/v1.DeleteOptions') as StructSchema;
const core = { names, features: { ...defaultFeatures, AllowUnsafeMalformedObjectDeletion: true, WatchList: true } };

const deleteOptions: Target = {
  name: 'registry-delete-options',
  seeds: seedsOf(
    '{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Foreground","preconditions":{"uid":"a","resourceVersion":"1"}}',
    '{"orphanDependents":true,"dryRun":["All"],"ignoreStoreReadErrorWithClusterBreakingPotential":true}',
  ),
  words: ['"dryRun":[""]', '"propagationPolicy":"Orphan"', '"gracePeriodSeconds":-1', 'null', '"preconditions":{}'],
  generate: (random) => oddJson(random, valueFor(random, options)),
  run: (bytes) => {
    const { value } = parseJson(bytes);
    if (!isJsonObject(value)) throw statusError.badRequest('no object');
    readDeleteOptions(compile(options, names).decode(value).value, core);
  },
};

/** A query string. */
const parameters: Target = {
  name: 'registry-parameters',
  limit: headerSize,
  // A GET with an invalid resourceVersion, as rejected by the http room.
  codes: [500],
  seeds: seedsOf(
    'limit=10&continue=abc&resourceVersion=12&resourceVersionMatch=Exact&timeoutSeconds=5',
    'dryRun=All&fieldManager=m&fieldValidation=Strict&force=true&gracePeriodSeconds=5&propagationPolicy=Orphan',
    'watch=1&sendInitialEvents=true&allowWatchBookmarks=1&resourceVersionMatch=NotOlderThan',
  ),
  words: [
    '&',
    '=',
    '%',
    '+',
    'limit=',
    'resourceVersion=',
    'dryRun=',
    'force=',
    'fieldManager=',
    '9'.repeat(40),
    '-1',
    'false',
    '%f0%9f%98%80',
  ],
  run: (bytes) => {
    const query = new URLSearchParams(textOf(bytes));
    const given = Object.fromEntries(query);
    const dryRun = query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {};
    const tries = [
      () => checkListOptions(given, names),
      () => checkWatchOptions(given, core),
      () => readNumbers(given),
      () => readVersion(given['resourceVersion'], 'list'),
      () => readVersion(given['resourceVersion'], 'watch'),
      () => deleteOptionsOf({ ...given, ...dryRun } as Parameters<typeof deleteOptionsOf>[0]),
      () =>
        readWriteOptions(
          'apply',
          { ...given, ...dryRun } as Parameters<typeof readWriteOptions>[1],
          { requester: noUser, warn: () => {} },
          names,
        ),
    ];
    // A request ends at its first error: run every parser, and rethrow the last error.
    let refusal: unknown;
    for (const attempt of tries) {
      try {
        attempt();
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'StatusError') throw error;
        refusal = error;
      }
    }
    if (refusal !== undefined) throw refusal;
  },
};

const pem = `-----BEGIN CERTIFICATE REQUEST-----
MIHSMHoCAQAwGDEWMBQGA1UEAwwNYSBjb21tb24gbmFtZTBZMBMGByqGSM49AgEG
CCqGSM49AwEHA0IABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
-----END CERTIFICATE REQUEST-----
`;

const certificateRequest: Target = {
  name: 'server-certificate-request',
  seeds: seedsOf(pem, `text before\n${pem}`, pem + pem),
  words: [
    '-----BEGIN ',
    '-----END ',
    'CERTIFICATE REQUEST-----',
    '-----',
    '\n',
    'MIIB',
    '====',
    'Proc-Type: 4,ENCRYPTED\n',
  ],
  generate: (random) =>
    `-----BEGIN CERTIFICATE REQUEST-----\n${der(random, 5).toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`,
  run: (bytes) => requestedSubject(Buffer.from(bytes).toString('latin1')),
};

/** A random DER element with a tag of certificate requests; its length is usually correct. */
function der(random: Random, depth: number): Buffer {
  const tag = random.pick([0x30, 0x31, 0x06, 0x02, 0x0c, 0x13, 0x1e, 0xa0, 0x03]);
  const inner =
    depth > 0 && (tag === 0x30 || tag === 0x31 || tag === 0xa0)
      ? Buffer.concat(random.list(0, 4, () => der(random, depth - 1)))
      : random.pick([
          Buffer.from('55040a', 'hex'),
          Buffer.from('system:masters'),
          Buffer.from([0]),
          Buffer.from([0, 65, 0]),
        ]);
  const length = random.once(12) ? random.next() : inner.length;
  const long = length > 127 || random.once(20);
  const size = long
    ? Buffer.from([0x84, length >>> 24, (length >>> 16) & 255, (length >>> 8) & 255, length & 255])
    : Buffer.from([length]);
  return Buffer.concat([Buffer.from([tag]), size, inner]);
}

/** The result of the WebSocket frame parser for bytes in chunks of this length. */
function framesIn(bytes: Uint8Array, step: number): string {
  const events: string[] = [];
  const frames = new ClientFrames({
    ping: (payload) => void events.push(`ping ${payload.toString('hex')}`),
    close: (code) => void events.push(`close ${code}`),
  });
  for (let at = 0; at < bytes.length; at += step) frames.read(Buffer.from(bytes.subarray(at, at + step)));
  return events.join();
}

const webSocket: Target = {
  name: 'http-web-socket',
  limit: headerSize,
  seeds: ['818361626364686a', '890000', '8985000000006869213f3f', '88820000000003e8', '82fe1000000000'].map((hex) =>
    Buffer.from(hex, 'hex'),
  ),
  words: ['\x81', '\x01', '\x80', '\x89', '\x88', '\xfe', '\xff'],
  generate: (random) =>
    Buffer.concat(
      random.list(1, 6, () => {
        const payload = Buffer.alloc(random.pick([0, 1, 2, 5, 100, 125]), random.next());
        const head = [random.pick([0x81, 0x01, 0x00, 0x80, 0x82, 0x89, 0x8a, 0x88]), 0x80 | payload.length];
        return Buffer.concat([Buffer.from([...head, 1, 2, 3, 4]), payload]);
      }),
    ),
  run: (bytes) => {
    const events = framesIn(bytes, bytes.length);
    for (const step of [1, 7]) law(framesIn(bytes, step) === events, 'frames are the same however they are cut');
    law(!/close \d+,/.test(events), 'nothing is told after the close');
  },
};

export const requestTargets: readonly Target[] = [
  requestInfo,
  impersonation,
  continueToken,
  deleteOptions,
  parameters,
  certificateRequest,
  webSocket,
];
