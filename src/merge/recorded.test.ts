import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type ApiObject,
  atOnce,
  isJsonObject,
  type Json,
  type JsonObject,
  namesFor,
  oneStep,
  StatusError,
} from '../meta/index.ts';
import { compile, type StructSchema } from '../schema/index.ts';
import { appsV1, coreV1 } from '../types/index.ts';
import { setOf } from './field-set.ts';
import { fieldPath } from './path.ts';
import { applyAtOnce } from './testing/apply.ts';
import { updateManagedFields } from './update.ts';

// The requests of the recorded exchanges and the responses of the reference server.

const names = namesFor('k8s.io');
const now = '2024-01-01T00:00:00Z';

interface Exchange {
  readonly step: string;
  readonly status: number;
  readonly body: JsonObject;
}

const keyOf = ({ manager, operation }: JsonObject) => JSON.stringify([manager, operation]);

/** One object of a type and the writes to it. */
class Server {
  live: ApiObject | undefined;
  readonly #schema: StructSchema;
  readonly #kind: string;
  readonly #apiVersion: string;
  readonly #answers: Exchange[];

  constructor(file: string, schema: StructSchema, apiVersion: string, kind: string) {
    this.#schema = schema;
    this.#apiVersion = apiVersion;
    this.#kind = kind;
    const path = new URL(`../../test/reference/expected/${file}.json`, import.meta.url);
    this.#answers = JSON.parse(readFileSync(path, 'utf8')) as Exchange[];
  }

  #type(reset: string) {
    const version = {
      schema: this.#schema,
      convert: (o: ApiObject) => oneStep(() => o),
    };
    const fieldFilter = { exclude: setOf(fieldPath(reset)) };
    return {
      names,
      fieldFilter,
      version: (apiVersion: string) => (apiVersion === this.#apiVersion ? version : undefined),
    };
  }

  #decode(object: JsonObject): ApiObject {
    return compile(this.#schema, names).decode(object).value as ApiObject;
  }

  #whole(body: JsonObject): JsonObject {
    const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
    return { apiVersion: this.#apiVersion, kind: this.#kind, ...body, metadata: { name: 'c', ...metadata } };
  }

  apply(manager: string, body: JsonObject, options: { force?: boolean; subresource?: string } = {}): void {
    const { force = false, subresource = '' } = options;
    const writer = { manager, apiVersion: this.#apiVersion, subresource, now };
    const type = this.#type(subresource === 'status' ? 'spec' : 'status');
    const request = { type, writer, live: this.live, applyConfig: this.#whole(body), force };
    this.live = applyAtOnce(request, (object) => this.#decode(object));
  }

  update(manager: string, body: JsonObject): void {
    const after = this.#decode(this.#whole(body));
    const writer = { manager, apiVersion: this.#apiVersion, now };
    const managedFields = atOnce(updateManagedFields({ type: this.#type('status'), writer, before: this.live, after }));
    if (managedFields !== undefined) after.metadata.managedFields = managedFields;
    this.live = after;
  }

  answer(step: string): JsonObject {
    const found = this.#answers.find((exchange) => exchange.step === step);
    if (found === undefined) throw new Error(`nothing recorded as ${step}`);
    return found.body;
  }

  /** Managed fields in a comparable form: manager, operation, subresource and the field set. */
  fieldSets(entries: Json | undefined): Json {
    const list = (entries ?? []) as JsonObject[];
    return list
      .map(
        ({ manager, operation, subresource = null, fieldsV1 = null }) =>
          ({ manager, operation, subresource, fieldsV1 }) as JsonObject,
      )
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  expectManagedFields(recorded: Json | undefined): void {
    expect(this.fieldSets(this.live?.metadata.managedFields)).toEqual(this.fieldSets(recorded));
  }

  expectFailure(step: string, write: () => void): void {
    const { status: _status, metadata: _metadata, kind: _kind, apiVersion: _version, ...recorded } = this.answer(step);
    let error: StatusError | undefined;
    try {
      write();
    } catch (thrown) {
      if (!(thrown instanceof StatusError)) throw thrown;
      error = thrown;
    }
    expect(error?.toStatus()).toMatchObject(recorded);
  }
}

describe('recorded exchanges', () => {
  it('apply.configmap', () => {
    const server = new Server('apply.configmap', coreV1.ConfigMap, 'v1', 'ConfigMap');
    const steps: [string, () => void][] = [
      ['create by apply', () => server.apply('one', { data: { a: '1', b: '1' } })],
      ['apply again', () => server.apply('one', { data: { a: '1', b: '1' } })],
      ['share b', () => server.apply('two', { data: { b: '1', c: '2' } })],
      ['forced', () => server.apply('two', { data: { b: '2', c: '2' } }, { force: true })],
      ['one gives up b', () => server.apply('one', { data: { a: '1' } })],
      ['one gives up a: removed', () => server.apply('one', { data: {} })],
      ['an update takes c', () => server.update('editor', { data: { b: '2', c: '9' } })],
      ['same value: shared', () => server.apply('two', { data: { b: '2', c: '9' } })],
    ];
    for (const [step, write] of steps) {
      if (step === 'forced') {
        server.expectFailure('conflict', () => server.apply('two', { data: { b: '2', c: '2' } }));
      }
      if (step === 'same value: shared') {
        server.expectFailure('conflict with an update', () => server.apply('two', { data: { b: '2', c: '2' } }));
      }
      write();
      const recorded = server.answer(step);
      expect(server.live?.['data'], step).toEqual(recorded['data']);
      server.expectManagedFields((recorded['metadata'] as JsonObject)['managedFields']);
    }
  });

  it('apply.errors', () => {
    const config = () => new Server('apply.errors', coreV1.ConfigMap, 'v1', 'ConfigMap');
    const server = config();
    const deployments = new Server('apply.errors', appsV1.Deployment, 'apps/v1', 'Deployment');
    server.expectFailure('unknown field', () => server.apply('m', { bogus: 1, data: {} }));
    server.expectFailure('wrong type', () => server.apply('m', { data: { a: 1 } }));
    server.expectFailure('managedFields set', () =>
      server.apply('m', { metadata: { managedFields: [{ manager: 'x' }] } }),
    );
    deployments.expectFailure('duplicate keys', () =>
      deployments.apply('m', { metadata: { name: 'd' }, ...deployment([{ name: 'a' }, { name: 'a' }]) }),
    );
    server.apply('m', { metadata: { resourceVersion: '1' }, data: {} });
    server.expectManagedFields((server.answer('nothing stored')['metadata'] as JsonObject)['managedFields']);
  });

  it('apply.lists', () => {
    const server = new Server('apply.lists', coreV1.ConfigMap, 'v1', 'ConfigMap');
    const finalizers = (...values: string[]) => ({ metadata: { finalizers: values } });
    server.apply('one', finalizers('e.com/a', 'e.com/b'));
    server.expectManagedFields(server.answer('set of finalizers')['managedFields']);
    server.apply('two', finalizers('e.com/c', 'e.com/b'));
    expect(server.live?.metadata.finalizers).toEqual(server.answer('order of a set'));
    server.apply('one', finalizers('e.com/a'));
    expect(server.live?.metadata.finalizers).toEqual(server.answer('drop one'));
    server.expectFailure('duplicate in a set', () => server.apply('three', finalizers('e.com/a', 'e.com/a')));
  });

  it('apply.lists: a service', () => {
    const server = new Server('apply.lists', coreV1.Service, 'v1', 'Service');
    const service = (spec: JsonObject) => ({ metadata: { name: 'v' }, spec });
    server.apply('one', service({ selector: { a: 'b' }, ports: [{ port: 80, name: 'h' }] }));
    server.expectManagedFields(server.answer('service')['mf']);
    server.apply('two', service({ selector: { a: 'b' }, ports: [{ port: 81, name: 'g' }] }));
    server.expectFailure('atomic map replaced', () => server.apply('one', service({ selector: { c: 'd' } })));
  });

  it('apply.migration', () => {
    const server = new Server('apply.migration', coreV1.ConfigMap, 'v1', 'ConfigMap');
    const last = `${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1', b: '2' } })}\n`;
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': last };
    server.update('kubectl-client-side-apply', { metadata: { annotations }, data: { a: '1', b: '2' } });
    server.apply('kubectl', { data: { a: '2' } });
    const recorded = server.answer('server-side apply by the same tool');
    expect(server.live?.['data']).toEqual(recorded['data']);
    expect(server.live?.metadata.annotations).toEqual((recorded['metadata'] as JsonObject)['annotations']);
    server.expectManagedFields((recorded['metadata'] as JsonObject)['managedFields']);
    server.expectFailure('another manager conflicts', () => server.apply('someone-else', { data: { a: '3' } }));
  });

  it('apply.deployment', () => {
    const server = new Server('apply.deployment', appsV1.Deployment, 'apps/v1', 'Deployment');
    const expectStep = (step: string) => {
      server.expectManagedFields(server.answer(step)['mf']);
    };
    const x = { name: 'X', value: '1' };
    server.apply('one', deployment([{ name: 'a', image: 'i:1', ports: [{ containerPort: 80 }], env: [x] }]));
    expectStep('create');
    server.apply('two', deployment([{ name: 'b', image: 'j:1' }]));
    expectStep('another container');
    server.expectFailure('conflict on image', () =>
      server.apply(
        'two',
        deployment(
          [
            { name: 'a', image: 'i:2' },
            { name: 'b', image: 'j:1' },
          ],
          { replicas: 3 },
        ),
      ),
    );
    const two = [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 80 }];
    server.apply('one', deployment([{ name: 'a', image: 'i:1', ports: two }]));
    expectStep('ports by two keys');
    const spec = server.live?.['spec'] as JsonObject;
    server.update('scaler', { ...server.live, spec: { ...spec, replicas: 5 } });
    expectStep('an update owns replicas');
    server.apply('two', deployment([{ name: 'b', image: 'j:2' }], { replicas: 5 }));
    expectStep('shared replicas');
    const status = { replicas: 2, conditions: [{ type: 'Available', status: 'True' }] };
    server.apply('st', { status }, { subresource: 'status' });
    const mine = ((server.live?.metadata.managedFields ?? []) as JsonObject[]).filter(
      ({ manager }) => manager === 'st',
    );
    expect(server.fieldSets(mine)).toEqual(server.fieldSets(server.answer('status subresource')['mf']));
  });
});

const deployment = (containers: Json[], more: JsonObject = {}): JsonObject => ({
  spec: {
    selector: { matchLabels: { app: 'x' } },
    template: { metadata: { labels: { app: 'x' } }, spec: { containers } },
    ...more,
  },
});
