import { afterEach, describe, expect, it } from 'vitest';
import { createClient } from '../../client/index.ts';
import { type ApiObject, namesFor } from '../../meta/index.ts';
import { type Kind, kinds } from '../state/discovery.ts';
import { jsonResponse } from '../testing/json-response.ts';
import { type Dependent, findDependents } from './relations.ts';

afterEach(() => {
  kinds.value = undefined;
});

const kindOf = (resource: string, kind: string): Kind => ({
  group: '',
  version: 'v1',
  apiVersion: 'v1',
  resource,
  kind,
  namespaced: true,
  verbs: ['list', 'delete'],
  subresources: [],
  preferred: true,
});

/** A session of a user who may list what has a response: the objects as pairs of a name and its owners, or a failure. */
function sessionOf(responses: {
  readonly [resource: string]: readonly [name: string, ...owners: string[]][] | number;
}) {
  const respond = (url: string, body: string): [status: number, body: object] => {
    if (url.includes('selfsubjectaccessreviews')) {
      const { resource } = JSON.parse(body).spec.resourceAttributes;
      return [201, { status: { allowed: resource in responses } }];
    }
    const found = responses[/namespaces\/default\/(\w+)/.exec(url)?.[1] ?? ''] ?? 404;
    if (typeof found === 'number') return [found, { kind: 'Status', code: found }];
    const items = found.map(([name, ...owners]) => ({
      metadata: { name, namespace: 'default', uid: name, ownerReferences: owners.map((uid) => ({ uid })) },
    }));
    return [200, { metadata: { resourceVersion: '1' }, items }];
  };
  const transport = async ({
    url,
    body,
  }: {
    readonly url: string;
    readonly body?: string | Uint8Array | undefined;
  }) => {
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    const [status, value] = respond(url, text);
    return jsonResponse(status, value);
  };
  return {
    client: createClient({ transport }),
    transport,
    names: namesFor('k8s.io'),
    user: 'jane',
    groups: [],
    signOutAddress: () => undefined,
  };
}

const owner = {
  apiVersion: 'v1',
  kind: 'Web',
  metadata: { name: 'web', namespace: 'default', uid: 'web' },
} as ApiObject;
const search = { signal: new AbortController().signal, onProgress: () => {} };
const namesIn = (tree: readonly Dependent[]): object[] =>
  tree.map(({ name, dependents }) => (dependents.length === 0 ? [name] : [name, namesIn(dependents)]));

describe('the dependents of an object', () => {
  it('are a tree by owner references, in which each object is once, and cycles end', async () => {
    kinds.value = [kindOf('sets', 'Set'), kindOf('pods', 'Pod')];
    const session = sessionOf({
      sets: [['set', 'web', 'pod']],
      pods: [
        ['pod', 'set', 'web'],
        ['other', 'elsewhere'],
      ],
    });
    const { tree, unsearched, isCut } = await findDependents(session, owner, search);
    expect(namesIn(tree)).toEqual([['set'], ['pod']]);
    expect([unsearched, isCut]).toEqual([[], false]);
  });

  it('come with the kinds that the user may not list, and those that could not be read', async () => {
    kinds.value = [kindOf('pods', 'Pod'), kindOf('secrets', 'Secret'), kindOf('broken', 'Broken')];
    const session = sessionOf({ pods: [['pod', 'web']], broken: 500 });
    const { tree, unsearched } = await findDependents(session, owner, search);
    expect(namesIn(tree)).toEqual([['pod']]);
    expect(unsearched.map(({ kind }) => kind)).toEqual(['Secret', 'Broken']);
  });

  it('are cut after a thousand, and after twenty levels', async () => {
    kinds.value = [kindOf('pods', 'Pod')];
    const many = Array.from({ length: 1_200 }, (_, index): [string, string] => [`pod-${index}`, 'web']);
    const wide = await findDependents(sessionOf({ pods: many }), owner, search);
    expect([wide.tree.length, wide.isCut]).toEqual([999, true]);
    const chain = many.map(([name], index): [string, string] => [name, index === 0 ? 'web' : `pod-${index - 1}`]);
    const deep = await findDependents(sessionOf({ pods: chain }), owner, search);
    let levels = 0;
    for (let level = deep.tree; level.length > 0; level = level[0]?.dependents ?? []) levels += 1;
    expect([levels, deep.isCut]).toEqual([20, true]);
  });
});
