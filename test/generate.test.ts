import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from './support/server.ts';

// The command as it is built, against definition files and a server. What it writes is compiled, and agrees with the server.

const root = fileURLToPath(new URL('..', import.meta.url));
const definitions = join(root, 'test/definitions');
const folder = mkdtempSync(join(tmpdir(), 'orch-generate-'));
mkdirSync(join(folder, 'node_modules'));
symlinkSync(join(root, 'node_modules/zod'), join(folder, 'node_modules/zod'), 'junction');
copyFileSync(join(root, 'biome.json'), join(folder, 'biome.json'));
writeFileSync(join(folder, 'package.json'), '{"type":"module"}');

let server: RunningServer;
beforeAll(async () => {
  server = await startServer(['--api-domain=k8s.io']);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function generate(...flags: readonly string[]) {
  const args = [join(root, 'dist/server/main.js'), 'generate', 'types', ...flags];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: folder });
  return { status, stdout, stderr };
}

function compile(...files: readonly string[]): string {
  const options = ['--strict', '--skipLibCheck', 'false', '--target', 'es2023', '--lib', 'es2023,dom', '--types', ''];
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '--ignoreConfig', ...options, '--module', 'nodenext'];
  return spawnSync(process.execPath, [...tsc, ...files], { cwd: folder, encoding: 'utf8' }).stdout;
}

describe('orch generate types', () => {
  it('writes types of definition files that compile, and that linters and formatters leave as they are', () => {
    const first = generate(`--from=${definitions}`, '--out=operators.ts');
    expect(first).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(generate(`--from=${definitions}`).stdout).toBe(readFileSync(join(folder, 'operators.ts'), 'utf8'));
    writeFileSync(
      join(folder, 'program.ts'),
      `import type { V1DatabaseCluster } from './operators.js';
       export const cluster: V1DatabaseCluster = {
         apiVersion: 'sql.example.com/v1',
         kind: 'DatabaseCluster',
         metadata: { name: 'a', labels: { tier: 'gold' } },
         spec: { engine: 'postgresql', version: '16.1', storage: { size: '1Gi' } },
       };
       // @ts-expect-error an engine that the definition does not have
       cluster.spec.engine = 'oracle';
       // @ts-expect-error the number is a number
       cluster.spec.instances = 'two';
      `,
    );
    expect(compile('program.ts')).toBe('');
    const lint = spawnSync(
      process.execPath,
      [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', 'operators.ts'],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    );
    expect({ status: lint.status, stderr: lint.stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('writes the same for a server that has these definitions', async () => {
    for (const name of ['certificates', 'databases', 'workflows']) {
      const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
      const documents = readFileSync(join(definitions, `${name}.yaml`), 'utf8').split(/^---$/m);
      for (const text of documents) {
        const made = await server.request('POST', path, text, { 'content-type': 'application/yaml' });
        expect(made.status).toBe(201);
      }
    }
    const { stdout } = generate(`--from=${definitions}`);
    expect(stdout).toContain('export interface V1Workflow {');
    expect(generate(`--from=${server.kubeconfig}`)).toEqual({ status: 0, stdout, stderr: '' });
    expect(generate(`--from=${server.url}`, `--kubeconfig=${server.kubeconfig}`).stdout).toBe(stdout);
  });

  it.each([
    ['a source without definitions', ['--from=package.json'], 1, 'has no definition of custom resources'],
    ['a file that is not there', ['--from=nowhere.yaml'], 1, 'there is no such file'],
    [
      'a server of which nobody knows the authority',
      ['--from=https://127.0.0.1:1'],
      1,
      'https://127.0.0.1:1 cannot be used',
    ],
    ['a URL with a password', ['--from=https://ann:secret@127.0.0.1'], 1, 'must be an https URL'],
    ['an unknown format', ['--from=package.json', '--format=yaml'], 2, '--format'],
    ['no source', [], 2, '--from must name'],
  ])('refuses %s', (_, flags, status, message) => {
    const result = generate(...flags);
    expect(result).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(message) });
    expect(result.stderr).not.toContain('secret');
  });
});

const product = 'x-kubernetes-';
const spec = {
  type: 'object',
  required: ['mode', 'replicas'],
  maxProperties: 9,
  properties: {
    mode: { type: 'string', enum: ['on', 'off'], description: 'ends */ here' },
    replicas: { type: 'integer', format: 'int32', minimum: 1, maximum: 4, default: 2 },
    ratio: { type: 'number', minimum: 0, maximum: 1, exclusiveMinimum: true, nullable: true },
    even: { type: 'integer', multipleOf: 2 },
    name: { type: 'string', pattern: '^[\\w-.]+\\-x.$', maxLength: 6 },
    short: { type: 'string', minLength: 1, maxLength: 2 },
    port: { [`${product}int-or-string`]: true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    tags: { type: 'array', maxItems: 3, items: { type: 'string' }, [`${product}list-type`]: 'set' },
    limits: { type: 'object', maxProperties: 2, additionalProperties: { type: 'integer', minimum: 0 } },
    free: { type: 'object', [`${product}preserve-unknown-fields`]: true, properties: { a: { type: 'boolean' } } },
    nested: { type: 'object', default: {}, properties: { level: { type: 'integer', default: 1, maximum: 3 } } },
    either: {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    ['__proto__']: { type: 'string', maxLength: 3 },
  },
};
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'probes.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'probes', kind: 'Probe' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', required: ['spec'], properties: { spec } } },
      },
    ],
  },
};

interface ZodType {
  safeParse(value: unknown): { readonly success: boolean; readonly data?: unknown };
}

describe('the schemas', () => {
  let zod: ZodType;
  let validate: ValidateFunction;
  beforeAll(async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    expect((await server.request('POST', path, definition)).status).toBe(201);
    writeFileSync(join(folder, 'probe.json'), JSON.stringify(definition));
    expect(generate('--from=probe.json', '--format=zod', '--out=probe.ts').status).toBe(0);
    expect(generate('--from=probe.json', '--format=json-schema', '--out=probe.schema.json').status).toBe(0);
    expect(compile('probe.ts')).toBe('');
    ({ V1Probe: zod } = await import(pathToFileURL(join(folder, 'probe.js')).href));
    const schema = JSON.parse(readFileSync(join(folder, 'probe.schema.json'), 'utf8'));
    validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  });

  const probe = (fields: object) => ({
    apiVersion: 'example.com/v1',
    kind: 'Probe',
    metadata: { name: 'a' },
    spec: fields,
  });
  const values: { readonly [name: string]: readonly unknown[] } = {
    mode: ['on', 'off', 'else', 1],
    replicas: [1, 4, 0, 5, 1.5, '2', 2 ** 33],
    ratio: [0.5, 1, 0, 2, null, 'x'],
    even: [2, 4, 3, -2],
    name: ['a-x1', 'a.b-x\r', 'a b-x1', '-x', 'aaaaaa-x1'],
    short: ['a', '', '😀😀', '😀😀😀', 'abc'],
    port: [80, 'http', true, 1.5],
    tags: [[], ['a', 'b'], ['a', 'a'], ['a', 'b', 'c', 'd'], [1], 'a'],
    limits: [{}, { a: 1 }, { a: -1 }, { a: 1, b: 2, c: 3 }, { ['__proto__']: 1 }, { a: 'x' }],
    free: [{ a: true, b: { c: [1] } }, { a: 1 }, [], { b: null }],
    nested: [{}, { level: 3 }, { level: 4 }],
    either: [{ a: '1' }, { b: '1' }, { a: '1', b: '1' }, {}],
    // Valid ones alone: validators of JSON Schema leave it out.
    ['__proto__']: ['abc'],
    unknown: [1],
  };
  const objects = fc
    .subarray(Object.keys(values), { minLength: 1, maxLength: 5 })
    .chain((names) =>
      fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), fc.constantFrom(...(values[name] ?? []))))),
    )
    .map((fields) => probe(Object.fromEntries([['mode', 'on'], ...fields])));

  it('accept what the server accepts, sent and returned, and the JSON Schema nothing else', async () => {
    const seen = { accepted: 0, refused: 0, refusedByZod: 0 };
    await fc.assert(
      fc.asyncProperty(objects, async (object) => {
        const path = '/apis/example.com/v1/namespaces/default/probes?dryRun=All';
        const { status, text } = await server.request('POST', path, JSON.stringify(object));
        const accepted = status === 201;
        expect([201, 400, 422]).toContain(status);
        expect({ text, accepted: validate(object) }).toEqual({ text, accepted });
        if (accepted) {
          seen.accepted++;
          const returned = JSON.parse(text);
          expect(zod.safeParse(object)).toMatchObject({ success: true });
          expect({ accepted: validate(returned), errors: validate.errors }).toEqual({ accepted, errors: null });
          expect(zod.safeParse(returned)).toMatchObject({ success: true });
        } else {
          seen.refused++;
          if (!zod.safeParse(object).success) seen.refusedByZod++;
        }
      }),
      { numRuns: 400 },
    );
    expect(seen.accepted).toBeGreaterThan(40);
    expect(seen.refused).toBeGreaterThan(40);
    // Not those of sets, and of schemas that are combined.
    expect(seen.refusedByZod).toBeGreaterThan(seen.refused / 2);
  });

  it('of zod set the defaults that the server sets', async () => {
    const object = probe({ mode: 'on' });
    const made = await server.request('POST', '/apis/example.com/v1/namespaces/default/probes?dryRun=All', object);
    expect(made.body.spec).toEqual({ mode: 'on', replicas: 2, nested: { level: 1 } });
    expect(zod.safeParse(object).data).toMatchObject({ spec: made.body.spec });
  });
});
