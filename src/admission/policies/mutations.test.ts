import { describe, expect, it } from 'vitest';
import { atOnce, isJsonObject, type JsonObject, jsonCopy, statusError } from '../../meta/index.ts';
import { compile } from '../../schema/index.ts';
import { Deployment } from '../../types/apps-v1.ts';
import { Activation, RequestValues } from '../expressions/activation.ts';
import { names, requestFor } from '../testing/initializer.ts';
import type { AdmissionRequest } from '../types.ts';
import { applyMutation, compileMutatingPolicy, MutationFailure } from './mutations.ts';

const type = compile(Deployment, names);
const as = {
  kind: { group: 'apps', version: 'v1', kind: 'Deployment' },
  resource: { group: 'apps', version: 'v1', resource: 'deployments' },
};

/** A deployment after one mutation, without what it does not set; or why it cannot be applied. */
async function mutated(
  mutation: { readonly applyConfiguration?: string; readonly jsonPatch?: string },
  object: JsonObject,
  oldObject?: JsonObject,
): Promise<JsonObject | string> {
  const patchType = mutation.jsonPatch === undefined ? 'ApplyConfiguration' : 'JSONPatch';
  const expression = mutation.jsonPatch ?? mutation.applyConfiguration ?? '';
  const field = patchType === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
  const program = atOnce(compileMutatingPolicy({ mutations: [{ patchType, [field]: { expression } }] }));
  let current: JsonObject = { apiVersion: 'apps/v1', kind: 'Deployment', ...jsonCopy(object) };
  const versions: Pick<AdmissionRequest['versions'], 'type' | 'write'> = {
    type: () => type,
    write: (_, value, strict) => {
      const { value: decoded, unknown } = type.decode(value);
      if (strict === true && unknown.length > 0) throw statusError.badRequest(`unknown field ${unknown[0]?.join('.')}`);
      current = decoded;
    },
  };
  const request = requestFor('deployments.apps', current);
  const authorize = () => ({ allowed: false, reason: '' });
  const values = new RequestValues({ request, matched: as, object: current, oldObject, authorize });
  const activation = new Activation(values, { compiler: program.compiler });
  const [compiled] = program.mutations;
  if (compiled === undefined) throw new Error('no mutation');
  try {
    await applyMutation(
      compiled,
      { request: { ...request, versions: { ...request.versions, ...versions } }, as, object: current },
      activation,
    );
  } catch (thrown) {
    if (thrown instanceof MutationFailure) return `${thrown.kind}: ${thrown.message}`;
    return `rejected: ${(thrown as Error).message}`;
  }
  return current;
}

const spec = (value: JsonObject): JsonObject => ({ spec: value });
const podSpec = (value: JsonObject): JsonObject => spec({ template: { spec: value } });
const labels = (value: JsonObject): JsonObject => ({ metadata: { labels: value } });
const containers = (...list: (string | JsonObject)[]) =>
  podSpec({ containers: list.map((one) => (isJsonObject(one) ? one : { name: one })) });

describe('applied configurations', () => {
  const inPod = (fields: string) =>
    `Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{${fields}}}}}`;
  it.each([
    ['Object{spec: Object.spec{replicas: object.spec.replicas + 100}}', spec({ replicas: 1 }), spec({ replicas: 101 })],
    [
      inPod('volumes: [Object.spec.template.spec.volumes{name: "y"}]'),
      podSpec({ volumes: [{ name: 'x' }] }),
      podSpec({ volumes: [{ name: 'x' }, { name: 'y' }] }),
    ],
    [
      inPod(
        'volumes: [Object.spec.template.spec.volumes{name: "y", hostPath: Object.spec.template.spec.volumes.hostPath{path: "a"}}]',
      ),
      podSpec({ volumes: [{ name: 'x' }, { name: 'y' }] }),
      podSpec({ volumes: [{ name: 'x' }, { name: 'y', hostPath: { path: 'a' } }] }),
    ],
    [
      'Object{metadata: Object.metadata{?labels: has(object.metadata.labels) ? optional.none() : optional.of({"a": "b"})}}',
      { metadata: {} },
      labels({ a: 'b' }),
    ],
    ['Object{}', spec({ replicas: 2 }), spec({ replicas: 2 })],
  ])('%s', async (applyConfiguration, object, expected) => {
    expect(await mutated({ applyConfiguration }, object)).toMatchObject(expected);
  });

  it('may read the old object', async () => {
    const applyConfiguration =
      'Object{spec: Object.spec{replicas: oldObject.spec.replicas % 2 == 0 ? oldObject.spec.replicas + 1 : 0}}';
    expect(await mutated({ applyConfiguration }, spec({ replicas: 1 }), spec({ replicas: 2 }))).toMatchObject(
      spec({ replicas: 3 }),
    );
  });

  it.each([
    [
      'Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"l": "v"}}}}',
      'invalid_error: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector',
    ],
    [
      inPod('containers: [Object.spec.template.spec.containers{name: "c", args: ["x"]}]'),
      'invalid_error: error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.template.spec.containers[0].args',
    ],
    [
      'Object{spec: Object.specx{replicas: 1}}',
      'invalid_error: type mismatch: unexpected type name "Object.specx", expected "Object.spec", which matches field name path from root Object type',
    ],
    [
      'Object{spec: Object.spec{replicasx: 1}}',
      'invalid_error: error applying patch: failed to convert patch object to typed object: .spec.replicasx: field not declared in schema',
    ],
    ['"I am a teapot"', 'invalid_error: must evaluate to Object but got string'],
    ['Object.spec.metadata{}', 'invalid_error: must evaluate to Object but got Object.spec.metadata'],
    [
      'Object{spec: object.spec.nope}',
      "invalid_error: expression 'Object{spec: object.spec.nope}' resulted in error: no such key: nope",
    ],
    ['Object{spec: {1: 2}}', 'invalid_error: invalid return type: map key is of type int, not string'],
    [
      'Objec{}',
      expect.stringContaining("compile_error: compilation failed: ERROR: <input>:1:6: undeclared reference to 'Objec'"),
    ],
  ])('%s fails', async (applyConfiguration, expected) => {
    expect(await mutated({ applyConfiguration }, spec({ replicas: 1 }))).toEqual(expected);
  });

  it('have a cost budget', async () => {
    const loop =
      'object.spec.template.spec.containers.all(c, object.spec.template.spec.containers.all(d, c.name + d.name != ""))';
    const object = containers(...Array.from({ length: 1000 }, (_, i) => `c${i}`));
    expect(await mutated({ applyConfiguration: `${loop} ? Object{} : Object{}` }, object)).toMatch(
      'resulted in error: operation cancelled: actual cost limit exceeded',
    );
  });
});

describe('the value of an expression', () => {
  it('is limited where it repeats itself', async () => {
    const doubled = Array.from({ length: 30 }).reduce<string>((inner) => `[${inner}].map(x, [x, x])`, '[0]');
    expect(await mutated({ applyConfiguration: `Object{spec: ${doubled}}` }, {})).toBe(
      'invalid_error: invalid return type: the value is too large',
    );
  });

  it('has as many operations as a JSON patch may have', async () => {
    const jsonPatch = 'object.spec.many.map(i, JSONPatch{})';
    expect(await mutated({ jsonPatch }, spec({ many: Array.from({ length: 10_001 }, () => 0) }))).toBe(
      'invalid_error: JSON Patch: The allowed maximum operations in a JSON patch is 10000, got 10001',
    );
  });
});

describe('JSON patches', () => {
  it.each([
    [
      'that test what is not so change nothing',
      '[JSONPatch{op: "replace", path: "/spec/replicas", value: 3}, JSONPatch{op: "test", path: "/spec/replicas", value: 100}]',
      spec({ replicas: 1 }),
      spec({ replicas: 1 }),
    ],
    [
      'that test what is so',
      '[JSONPatch{op: "test", path: "/spec/replicas", value: 1}, JSONPatch{op: "replace", path: "/spec/replicas", value: 3}]',
      spec({ replicas: 1 }),
      spec({ replicas: 3 }),
    ],
    ['remove', '[JSONPatch{op: "remove", path: "/metadata/labels/y"}]', labels({ x: '1', y: '1' }), labels({ x: '1' })],
    [
      'copy',
      '[JSONPatch{op: "copy", from: "/spec/template/spec/containers/0", path: "/spec/template/spec/containers/-"}]',
      containers('a', 'b'),
      containers('a', 'b', 'a'),
    ],
    [
      'move',
      '[JSONPatch{op: "move", from: "/metadata/labels/x", path: "/metadata/labels/y"}]',
      labels({ x: '1' }),
      labels({ y: '1' }),
    ],
    [
      'replace what is not set',
      '[JSONPatch{op: "replace", path: "/metadata/labels", value: {"y": "2"}}]',
      { metadata: {} },
      labels({ y: '2' }),
    ],
    [
      'escape keys',
      '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("k8s.io/x~y"), value: "true"}]',
      labels({}),
      labels({ 'k8s.io/x~y': 'true' }),
    ],
    [
      'add constructed objects',
      '[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{name: "x", ports: [Object.spec.template.spec.containers.ports{containerPort: 8080}]}}]',
      containers('a'),
      containers('a', { name: 'x', ports: [{ containerPort: 8080 }] }),
    ],
    [
      'add values of the object',
      '[JSONPatch{op: "add", path: "/spec/template/spec/initContainers", value: object.spec.template.spec.containers + [{"name": "u"}]}]',
      containers('a'),
      podSpec({ initContainers: [{ name: 'a' }, { name: 'u' }], containers: [{ name: 'a' }] }),
    ],
    // As the reference server: null is a value, and decoding drops it.
    [
      'set a field to null',
      '[JSONPatch{op: "replace", path: "/spec/replicas", value: null}]',
      spec({ replicas: 3, paused: true }),
      spec({ paused: true }),
    ],
    ['that are empty change nothing', '[JSONPatch{}].filter(p, false)', spec({ replicas: 1 }), spec({ replicas: 1 })],
  ])('%s', async (_, jsonPatch, object, expected) => {
    const result = await mutated({ jsonPatch }, object);
    expect(result).toMatchObject(expected);
    if (expected['metadata'] !== undefined) {
      expect((result as { metadata: JsonObject }).metadata['labels']).toEqual(
        (expected['metadata'] as JsonObject)['labels'],
      );
    }
  });

  it.each([
    [
      '[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.template.spec.containers{portZ: 1}}]',
      'rejected: Internal error occurred: unknown field spec.template.spec.containers.1.portZ',
    ],
    [
      '[JSONPatch{op: "replace", path: "/spec/replicas", value: "x"}]',
      expect.stringMatching(/^rejected: Internal error occurred: .*cannot unmarshal string/),
    ],
    [
      '[JSONPatch{op: "add", path: "/spec/template/spec/containers/-", value: Object.spec.containers{ports: [Object.spec.portsZ{}]}}]',
      'invalid_error: type mismatch: unexpected type name "Object.spec.portsZ", expected "Object.spec.containers.ports", which matches field name path from root Object type',
    ],
    [
      '[JSONPatch{op: "replace", path: "/spec/template/spec/containers/-", value: {"name": "x"}}]',
      'invalid_error: JSON Patch: replace operation does not apply: doc is missing key: /spec/template/spec/containers/-: missing value',
    ],
    [
      '[JSONPatch{op: "add", path: "/spec/replicas", value: type(1)}]',
      "invalid_error: JSONPath valueExpression evaluated to a type that could not marshal to JSON: a value of type 'type' cannot be written as JSON",
    ],
    ['[]', 'invalid_error: must evaluate to list(JSONPatch) but got list(dyn)'],
    ['[JSONPatch{op: "nope", path: "/spec"}]', 'invalid_error: JSON Patch: Unexpected kind: nope'],
  ])('%s fails', async (jsonPatch, expected) => {
    expect(await mutated({ jsonPatch }, containers('a'))).toEqual(expected);
  });
});
