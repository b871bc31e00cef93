import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiObject, isJsonObject, type Json, type JsonObject } from '../meta/index.ts';
import { openMemoryStore } from '../store/index.ts';
import { drivenClock } from '../store/testing/driven-clock.ts';
import { silentLog } from './dependencies.ts';
import { type RequestedServer, requestServer } from './testing/request-server.ts';

// Annotations of clients in the place of those that carry fields which a version lacks.

const older = [
  'autoscaling/v2beta1',
  'discovery.k8s.io/v1beta1',
  'extensions/v1beta1',
  'flowcontrol.apiserver.k8s.io/v1beta1',
  'networking.k8s.io/v1beta1',
  'policy/v1beta1',
];
const errors: unknown[] = [];
let open: RequestedServer;
beforeAll(async () => {
  const log = { ...silentLog, error: (...logged: unknown[]) => void errors.push(logged) };
  open = await requestServer(
    { controllers: '-*', runtimeConfig: Object.fromEntries(older.map((groupVersion) => [groupVersion, true])) },
    { log, store: openMemoryStore({ clock: drivenClock() }) },
  );
});
afterAll(() => open.server.close());

async function send(method: string, url: string, body?: JsonObject): Promise<{ status: number; object: ApiObject }> {
  const { status, text } = await open.request(method, url, body);
  return { status, object: JSON.parse(text) as ApiObject };
}

/** A kind in an older and in its storage version: a valid object of the older one, and the carriers of both. */
interface Kind {
  readonly title: string;
  readonly older: string;
  readonly stored: string;
  readonly carriers: { readonly older: string; readonly stored: string };
  readonly object: JsonObject;
  /** The content of the object in the storage version, to which losses may refer. */
  readonly paths: readonly string[];
}

const inDefault = (groupVersion: string, plural: string) => `/apis/${groupVersion}/namespaces/default/${plural}`;
const scaled = { scaleTargetRef: { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' }, maxReplicas: 3 };
const cpu = { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 60 } };
const kinds: readonly Kind[] = [
  {
    title: 'autoscalers',
    older: inDefault('autoscaling/v2beta1', 'horizontalpodautoscalers'),
    stored: inDefault('autoscaling/v2', 'horizontalpodautoscalers'),
    carriers: { older: 'autoscaling.v2beta1', stored: 'autoscaling.v2' },
    object: { spec: { ...scaled, metrics: [cpu, cpu] } },
    paths: ['spec', 'spec.metrics', 'spec.behavior', 'spec.maxReplicas', 'status', 'status.currentReplicas'],
  },
  {
    title: 'ingresses',
    older: inDefault('extensions/v1beta1', 'ingresses'),
    stored: inDefault('networking.k8s.io/v1', 'ingresses'),
    carriers: { older: 'extensions.v1beta1', stored: 'networking.v1' },
    object: { spec: { backend: { serviceName: 'a', servicePort: 80 }, rules: [{ host: 'h' }] } },
    paths: ['spec', 'spec.rules', 'spec.defaultBackend', 'spec.backend', 'spec.tls', 'status.loadBalancer'],
  },
  {
    title: 'endpoint slices',
    older: inDefault('discovery.k8s.io/v1beta1', 'endpointslices'),
    stored: inDefault('discovery.k8s.io/v1', 'endpointslices'),
    carriers: { older: 'discovery.v1beta1', stored: 'discovery.v1' },
    object: { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'], topology: { zone: 'a' } }] },
    paths: ['addressType', 'endpoints', 'ports', 'metadata.name', 'metadata', 'kind'],
  },
  {
    title: 'disruption budgets',
    older: inDefault('policy/v1beta1', 'poddisruptionbudgets'),
    stored: inDefault('policy/v1', 'poddisruptionbudgets'),
    carriers: { older: 'policy.v1beta1', stored: 'policy.v1' },
    object: { spec: { minAvailable: 1, selector: {} } },
    paths: [
      'spec',
      'spec.selector',
      'spec.minAvailable',
      'spec.selector.matchLabels',
      'status.conditions',
      '__proto__',
    ],
  },
];

const key = (carrier: string) => `conversion.k8s.io/${carrier}`;

/** Losses that fit the kind more or less, and texts that are none. */
function annotations({ paths, object }: Kind): fc.Arbitrary<string> {
  const parts: Json[] = [object, ...partsOf(object)];
  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...parts)) as fc.Arbitrary<Json>;
  const path = fc.oneof(
    fc.constantFrom(...paths).map((text) => text.split('.')),
    fc.array(fc.string(), { maxLength: 3 }),
  );
  const loss = fc.oneof(
    fc.record({ field: path, was: value, is: value }, { requiredKeys: ['field'] }),
    fc.record({ list: path, was: value, is: value }),
  );
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(loss, { maxLength: 5 }).map((losses) => JSON.stringify(losses)) },
    { weight: 1, arbitrary: fc.oneof(fc.json(), fc.string()) },
  );
}

function partsOf(value: Json): Json[] {
  if (Array.isArray(value)) return value.flatMap((item) => [item, ...partsOf(item)]);
  return isJsonObject(value) ? Object.values(value).flatMap((member) => [member, ...partsOf(member)]) : [];
}

describe('forged annotations of conversions', () => {
  it.each(kinds.map((kind) => [kind.title, kind] as const))('never make a server fail: %s', async (_, kind) => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(annotations(kind), annotations(kind), async (one, other) => {
        const name = `forged-${++made}`;
        const metadata = { name, annotations: { [key(kind.carriers.stored)]: one, [key(kind.carriers.older)]: other } };
        const created = await send('POST', kind.older, { ...kind.object, metadata });
        const statuses = [created.status];
        if (created.status === 201) {
          const { object } = await send('GET', `${kind.stored}/${name}`);
          expect(object.metadata).toMatchObject({ name, uid: created.object.metadata.uid, namespace: 'default' });
          for (const [url, carrier] of [
            [kind.stored, kind.carriers.older],
            [kind.older, kind.carriers.stored],
          ] as const) {
            const { object: current } = await send('GET', `${url}/${name}`);
            const forged = { ...current.metadata.annotations, [key(carrier)]: other };
            const body = { ...current, metadata: { ...current.metadata, annotations: forged } };
            statuses.push((await send('PUT', `${url}/${name}`, body)).status);
          }
          for (const url of [`${kind.older}/${name}`, `${kind.stored}/${name}`, kind.older]) {
            statuses.push((await send('GET', url)).status);
          }
          await send('DELETE', `${kind.stored}/${name}`);
        }
        expect(statuses.filter((status) => status >= 500)).toEqual([]);
        expect(errors).toEqual([]);
      }),
      { numRuns: 40, seed: 28 },
    );
  });

  const loss = (field: string, was: Json | undefined, is: Json) =>
    JSON.stringify([{ field: field.split('.'), is, ...(was === undefined ? {} : { was }) }]);

  it('change no status by a write of the spec', async () => {
    const [autoscalers] = kinds as [Kind];
    const metadata = {
      name: 'status',
      annotations: { [key('autoscaling.v2')]: loss('status.desiredReplicas', 0, 9) },
    };
    const { status } = await send('POST', autoscalers.older, { ...autoscalers.object, metadata });
    expect(status).toBe(201);
    const { object } = await send('GET', `${autoscalers.stored}/status`);
    expect(object['status']).toEqual({ currentMetrics: null, desiredReplicas: 0 });
  });

  it('change no immutable field', async () => {
    const slices = kinds[2] as Kind;
    await send('POST', slices.older, { ...slices.object, metadata: { name: 'immutable' } });
    const { object } = await send('GET', `${slices.older}/immutable`);
    const annotations = { [key('discovery.v1')]: loss('addressType', 'IPv4', 'IPv6') };
    const metadata = { ...object.metadata, annotations };
    const answer = await send('PUT', `${slices.older}/immutable`, { ...object, metadata });
    expect(answer.status).toBe(422);
    expect(answer.object['message']).toContain('addressType');
  });

  it('are validated like any other value', async () => {
    const [autoscalers] = kinds as [Kind];
    const metadata = { name: 'invalid', annotations: { [key('autoscaling.v2')]: loss('spec.maxReplicas', 3, -1) } };
    const { status, object } = await send('POST', autoscalers.older, { ...autoscalers.object, metadata });
    expect(status).toBe(422);
    expect(object['message']).toContain('spec.maxReplicas');
  });

  it.each([
    ['nested', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['nested in a loss', `[{"field":["spec"],"is":${'{"a":'.repeat(600)}1${'}'.repeat(600)}}]`],
    ['long', JSON.stringify('x'.repeat(300_000))],
    ['of many losses', JSON.stringify(Array.from({ length: 50_000 }, () => ({ field: ['a'], is: 1 })))],
    ['of many losses of a list', JSON.stringify(Array(20_000).fill({ list: ['spec', 'metrics'], was: cpu, is: cpu }))],
  ])('may be %s', async (_, text) => {
    const [autoscalers] = kinds as [Kind];
    for (const [url, carrier] of [
      [autoscalers.older, 'autoscaling.v2'],
      [autoscalers.stored, 'autoscaling.v2beta1'],
    ] as const) {
      const metadata = { name: 'long', annotations: { [key(carrier)]: text } };
      const spec = url === autoscalers.older ? autoscalers.object['spec'] : scaled;
      const { status } = await send('POST', url, { spec: spec as JsonObject, metadata });
      expect([201, 413, 422]).toContain(status);
      await send('DELETE', `${url}/long`);
    }
    expect(errors).toEqual([]);
  });
});
