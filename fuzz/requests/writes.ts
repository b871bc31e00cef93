import { isJsonObject, type JsonObject } from '../../src/meta/index.ts';
import { type Answer, type Ask, type Client, shown } from '../client.ts';
import type { Random } from '../random.ts';
import { type Sample, samples, selfReviewSamples } from '../samples.ts';
import { type Body, objectBody, patchBody } from './bodies.ts';
import type { Generator } from './generator.ts';

interface Write {
  [key: string]: string;
  method: string;
  /** Suffix of the path of the object, or of the collection for a POST. */
  suffix: string;
  type: string;
  /** A binary string. */
  body: string;
}

interface Case {
  [key: string]: string | Write[];
  protocol: 'http1' | 'http2';
  user: 'admin' | 'bob';
  collection: string;
  writes: Write[];
}

const parameters = [
  '',
  '',
  '?fieldValidation=Strict',
  '?fieldValidation=Ignore',
  '?dryRun=All',
  '?fieldManager=m&force=true',
  '?pretty=1',
];

/** Creates, reads in every media type, changes and deletes an object, with valid or nearly valid bodies. */
export const writes: Generator<Case> = {
  name: 'requests-writes',
  lanes: 1,
  make: (random) => {
    const user = random.once(6) ? 'bob' : 'admin';
    const sample = random.pick(user === 'bob' ? selfReviewSamples : samples);
    const first = write('POST', random.pick(parameters), objectBody(random, sample));
    const others = user === 'bob' ? [] : random.list(0, 3, () => later(random, sample));
    return {
      protocol: random.pick(['http1', 'http2']),
      user,
      collection: sample.collection,
      writes: [first, ...others],
    };
  },
  play,
  // The body of the last write; earlier ones prepare the object.
  bytes: ({ writes: all }) => Buffer.from(all.at(-1)?.body ?? '', 'latin1'),
  withBytes: (given, bytes) => ({
    ...given,
    writes: given.writes.map((one, i) =>
      i === given.writes.length - 1 ? { ...one, body: bytes.toString('latin1') } : one,
    ),
  }),
};

const write = (method: string, suffix: string, { type, bytes }: Body): Write => ({
  method,
  suffix,
  type,
  body: bytes.toString('latin1'),
});

function later(random: Random, sample: Sample): Write {
  const subresource = random.once(4)
    ? random.pick(['/status', '/scale', '/finalize', '/eviction', '/approval', '/resize'])
    : '';
  const suffix = `${subresource}${random.pick(parameters)}`;
  const kind = random.below(5);
  if (kind === 0) return write('PUT', suffix, objectBody(random, sample));
  if (kind === 1 && subresource !== '') return write('POST', suffix, objectBody(random, sample));
  return write(
    'PATCH',
    random.once(2) ? `${subresource}?fieldManager=m&force=true` : suffix,
    patchBody(random, sample),
  );
}

const forms = [
  'application/json',
  'application/yaml',
  'application/vnd.orch.protobuf',
  'application/json;as=Table;v=v1;g=meta.orch.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.orch.io',
];

async function play(_: unknown, client: Client, given: Case): Promise<string | undefined> {
  const send = (ask: Omit<Ask, 'user'>) => client[given.protocol]({ user: given.user, ...ask });
  const [first, ...others] = given.writes as [Write, ...Write[]];
  const created = await send(asked(given.collection, first));
  const fault = faultOf(created, first);
  const made = created.status === 201 ? parsed(created) : undefined;
  const name = isJsonObject(made?.['metadata']) ? made['metadata']['name'] : undefined;
  if (fault !== undefined || typeof name !== 'string' || given.user === 'bob') return fault;
  const path = `${given.collection}/${encodeURIComponent(name)}`;
  const found = await send({ method: 'GET', path });
  // Reviews and dry runs store nothing.
  if (found.status === 404 || found.status === 405) return undefined;
  for (const other of others) {
    const wrong = faultOf(await send(asked(path, other)), other);
    if (wrong !== undefined) return wrong;
    const unreadable = await readFault(send, given.collection, path);
    if (unreadable !== undefined) return `${unreadable} after ${other.method} ${other.suffix}`;
  }
  return (await readFault(send, given.collection, path)) ?? deleteFault(send, path);
}

const asked = (path: string, { method, suffix, type, body }: Write): Omit<Ask, 'user'> => ({
  method,
  path: path + suffix,
  headers: { 'content-type': type },
  body: Buffer.from(body, 'latin1'),
});

type Send = (ask: Omit<Ask, 'user'>) => Promise<Answer>;

/** Checks that the stored object can be read in every media type, alone and in its list. */
async function readFault(send: Send, collection: string, path: string): Promise<string | undefined> {
  for (const accept of forms) {
    for (const where of [path, `${collection}?limit=500`]) {
      const { status, body } = await send({ method: 'GET', path: where, headers: { accept } });
      if (status === 200 || (status === 404 && where === path)) continue;
      // Some kinds have no protobuf schema.
      if (status === 406) continue;
      return `reading ${where} as ${accept} gives ${status}: ${shown(body)}`;
    }
  }
  return undefined;
}

/** Checks that the stored object can be deleted after its finalizers are removed. */
async function deleteFault(send: Send, path: string): Promise<string | undefined> {
  const deleted = await send({ method: 'DELETE', path: `${path}?gracePeriodSeconds=0&propagationPolicy=Background` });
  if (deleted.status !== 200 && deleted.status !== 202 && deleted.status !== 404) {
    return `deleting gives ${deleted.status}: ${shown(deleted.body)}`;
  }
  const left = await send({ method: 'GET', path });
  if (left.status === 404) return undefined;
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patched = await send({ method: 'PATCH', path, headers, body: '{"metadata":{"finalizers":null}}' });
  // The server itself removes that of a definition, whose objects have gone by then.
  if (patched.status === 404) return undefined;
  if (patched.status >= 300) return `the finalizers cannot be removed: ${patched.status} ${shown(patched.body)}`;
  const gone = await send({ method: 'GET', path });
  // The finalizers of a namespace are also in its spec.
  return gone.status === 404 || path.includes('/v1/namespaces/sample')
    ? undefined
    : `it cannot be deleted: ${shown(gone.body)}`;
}

function parsed({ body }: Answer): JsonObject | undefined {
  try {
    const value = JSON.parse(body.toString());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The size limit of the response to a rejected write (bytes). */
const maxRefusal = 1024 * 1024;

function faultOf(answer: Answer, { method, suffix }: Write): string | undefined {
  const { status, body: text } = answer;
  if (status >= 400 && text.length > maxRefusal) return `a refusal of ${text.length} bytes`;
  if (status < 500) return undefined;
  const message = parsed(answer)?.['message'];
  if (status === 500 && typeof message === 'string') {
    // Like the reference server: 500 for an apply that does not match the schema, and for invalid patch directives.
    if (method === 'PATCH' && !message.includes('Internal error')) return undefined;
    // Also for a resourceVersion that is not a uint64, or is set on create.
    if (/^strconv\.ParseUint: parsing |^resourceVersion should not be set /.test(message)) return undefined;
  }
  return `${method} ${suffix} answered with ${status}: ${shown(text)}`;
}
