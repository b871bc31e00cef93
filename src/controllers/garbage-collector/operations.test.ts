import { describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../client/index.ts';
import { type Json, namesFor, type ObjectMeta, StatusError } from '../../meta/index.ts';
import { Operations, UnknownKindError } from './operations.ts';

const resource = {
  group: '',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
  verbs: [],
};
const identity = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'ns', name: 'a', uid: 'u' };
const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o' };
const served = {
  preferred: [resource],
  stale: [],
  find: (_: string, kind: string) => (kind === 'ConfigMap' ? resource : undefined),
  findResource: () => undefined,
};

/** A client that answers each request with the next response. */
function answering(...responses: (ObjectMeta | StatusError)[]) {
  const sent: [method: string, body: Json][] = [];
  const api: Client = createClient({
    transport: ({ method, body }) => {
      sent.push([method, body === undefined ? null : (JSON.parse(Buffer.from(body).toString()) as Json)]);
      const response = responses.shift() ?? {};
      const failed = response instanceof StatusError;
      const text = JSON.stringify(failed ? response.toStatus() : { kind: 'ConfigMap', metadata: response });
      const bytes = (async function* () {
        yield await Promise.resolve(Buffer.from(text));
      })();
      return Promise.resolve({ status: failed ? response.code : 200, headers: {}, body: bytes });
    },
  });
  return { sent, operations: new Operations(api, namesFor('k8s.io'), () => served) };
}
const read = (resourceVersion: string, more: ObjectMeta = {}): ObjectMeta => ({
  namespace: 'ns',
  name: 'a',
  uid: 'u',
  resourceVersion,
  ownerReferences: [owner],
  ...more,
});
const conflict = new StatusError(409, 'Conflict', 'conflict');
const missing = new StatusError(404, 'NotFound', 'configmaps "a" not found', { name: 'a', kind: 'configmaps' });
const preconditionsOf = (sent: readonly [string, Json][]) =>
  sent.filter(([method]) => method === 'DELETE').map(([, body]) => (body as { preconditions: Json }).preconditions);

describe('deletions', () => {
  it('are of the version that was read, or of a later one with the same owners', async () => {
    const { sent, operations } = answering(conflict, read('6'), {});
    expect(await operations.delete(identity, read('5'), 'Background')).toBe(true);
    expect(preconditionsOf(sent)).toEqual([
      { uid: 'u', resourceVersion: '5' },
      { uid: 'u', resourceVersion: '6' },
    ]);
  });

  it('are not of an object that has got another owner', async () => {
    const adopted = read('6', { ownerReferences: [{ ...owner, uid: 'other' }] });
    const { sent, operations } = answering(conflict, adopted);
    await expect(operations.delete(identity, read('5'), 'Background')).rejects.toMatchObject({ code: 409 });
    expect(preconditionsOf(sent)).toEqual([{ uid: 'u', resourceVersion: '5' }]);
  });

  it.each([
    ['gone', [missing]],
    ['gone after a conflict', [conflict, missing]],
    ['another one of the same name', [conflict, read('6', { uid: 'other' })]],
  ])('find an object that is %s', async (_, responses) => {
    const { operations } = answering(...responses);
    expect(await operations.delete(identity, read('5'), 'Background')).toBe(false);
  });
});

describe('changes of metadata', () => {
  it('are made again after a conflict, on what is read then, and only where needed', async () => {
    const others = [owner, { ...owner, uid: 'p' }];
    const { sent, operations } = answering(read('5'), conflict, read('6', { ownerReferences: others }), {}, read('7'));
    await operations.removeOwners(identity, new Set(['o']));
    await operations.removeOwners(identity, new Set(['p']));
    expect(sent.filter(([method]) => method === 'PATCH')).toEqual([
      ['PATCH', { metadata: { ownerReferences: null, uid: 'u', resourceVersion: '5' } }],
      ['PATCH', { metadata: { ownerReferences: [{ ...owner, uid: 'p' }], uid: 'u', resourceVersion: '6' } }],
    ]);
  });

  it('leave another object of the same name alone', async () => {
    const { sent, operations } = answering(read('5', { uid: 'other', finalizers: ['orphan'] }));
    await operations.removeFinalizer(identity, 'orphan');
    expect(sent.map(([method]) => method)).toEqual(['GET']);
  });
});

describe('a 404', () => {
  it('says that an object is absent only when it names the object', async () => {
    expect(await answering(missing).operations.get(identity)).toBeUndefined();
    const unserved = new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
    await expect(answering(unserved).operations.get(identity)).rejects.toBeInstanceOf(UnknownKindError);
    await expect(answering().operations.get({ ...identity, kind: 'Nest' })).rejects.toBeInstanceOf(UnknownKindError);
  });
});
