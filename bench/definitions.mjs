// Custom types at scale: memory for each definition, when a new one is served, and how fast discovery and objects are.
import { call, liveMemory, memory, probed, sleep } from './servers.mjs';

/** @typedef {import('./servers.mjs').Server} Server @typedef {import('./rows.mjs').Bench} Bench */

const group = 'bench.example.com';
const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions';
const objectsOf = (/** @type {number} */ i) => `/apis/${group}/v1/namespaces/default/kind${i}s`;

/** A definition of 50 fields: texts, numbers, lists of objects, maps, with defaults, limits and a rule. @param {number} i */
function definition(i) {
  /** @type {{ [name: string]: object }} */
  const fields = {};
  for (let n = 0; n < 8; n++) {
    fields[`text${n}`] = { type: 'string', maxLength: 64, description: `A text, the number ${n} of those of a kind.` };
    fields[`count${n}`] = { type: 'integer', minimum: 0, maximum: 1000, default: n };
    fields[`flag${n}`] = { type: 'boolean', default: false };
    fields[`list${n}`] = {
      type: 'array',
      maxItems: 10,
      'x-orch-list-type': 'map',
      'x-orch-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', maxLength: 20 }, value: { type: 'string', enum: ['a', 'b', 'c'] } },
      },
    };
  }
  const labels = { type: 'object', maxProperties: 10, additionalProperties: { type: 'string', maxLength: 63 } };
  const rule = { rule: 'self.count0 <= self.count1 + 1000', message: 'count0 is too large' };
  const spec = {
    type: 'object',
    properties: { ...fields, labels, size: { type: 'integer' } },
    'x-orch-validations': [rule],
  };
  const status = { type: 'object', properties: { phase: { type: 'string' }, ready: { type: 'integer' } } };
  return {
    apiVersion: 'apiextensions.orch.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `kind${i}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `kind${i}s`, singular: `kind${i}`, kind: `Kind${i}` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
        },
      ],
    },
  };
}

/** @param {Server} server @param {string} path */
async function timed(server, path) {
  const began = performance.now();
  await call(server, 'GET', path);
  return performance.now() - began;
}

/** Creates a definition; the time until its objects can be listed (ms). @param {Server} server @param {number} i */
async function served(server, i) {
  const began = performance.now();
  await call(server, 'POST', definitions, definition(i));
  for (;;) {
    const done = await call(server, 'GET', objectsOf(i)).then(
      () => true,
      () => false,
    );
    if (done) return performance.now() - began;
    await sleep(1);
  }
}

/** So many definitions are there before memory is measured. */
const warm = 30;

/** @param {Bench} bench */
export async function customTypes({ report }) {
  const server = await probed('definitions');
  const object = (/** @type {number} */ i) => ({
    apiVersion: `${group}/v1`,
    kind: `Kind${i}`,
    metadata: { name: 'a' },
    spec: {},
  });
  /** Creates definitions up to this number, each with an object. @param {number} last */
  const create = async (last) => {
    for (; made <= last; made++) {
      await call(server, 'POST', definitions, definition(made));
      await call(server, 'POST', objectsOf(made), object(made));
    }
  };
  let made = 0;
  // Code that only the first ones load and compile is not part of the cost of each.
  await create(warm);
  await sleep(1000);
  const before = await liveMemory(server);
  for (const count of [1, 100, 1000]) {
    await create(warm + count);
    await sleep(1000);
    const each = ((await liveMemory(server)) - before) / count;
    const met = count < 1000 || each < 150;
    report(
      `memory of each of ${count} definitions of 50 fields (KB)`,
      each,
      count < 1000 ? 'none' : '< 150',
      met,
      `live after a garbage collection, each with one object; RssAnon ${Math.round(memory(server, 'RssAnon'))} MB`,
    );
  }
  const ms = await served(server, made);
  report(
    'time until a definition is served among 1,000 (ms)',
    ms,
    '< 100',
    ms < 100,
    'from its POST to a list of its objects',
  );
  await timed(server, '/apis');
  report(
    'discovery of 1,000 custom types (ms)',
    await timed(server, `/apis/${group}/v1`),
    'none',
    true,
    'one group version',
  );
  report(
    'OpenAPI of 1,000 custom types (ms)',
    await timed(server, `/openapi/v3/apis/${group}/v1`),
    'none',
    true,
    'the first time',
  );
  server.child.kill();
}
