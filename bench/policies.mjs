// What ten validating admission policies, each with an expression of a hundred characters, add to a write. Prints
// microseconds of CPU time. Runs in one process with a memory store.

// The build may lack type declarations.
const { createServer } = await import(new URL('../dist/server/index.js', import.meta.url).href);
const count = 10;
const rounds = 30;
const repeats = 400;
const server = await createServer({ controllers: '-*' });
const group = '/apis/admissionregistration.orch.io/v1';
const headers = { 'content-type': 'application/json' };
const peer = { address: '', certificate: { commonName: 'bench', organizations: ['system:masters'] } };

/** @param {string} method @param {string} url @param {object} [value] */
async function send(method, url, value) {
  const body = Buffer.from(value === undefined ? '' : JSON.stringify(value));
  const signal = new AbortController().signal;
  const answer = await server.handler({ method, url, headers, peer, body: () => Promise.resolve(body), signal });
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.body}`);
}

const expression =
  "object.data.size() <= 20 && (!has(object.metadata.labels) || object.metadata.labels['team'] != 'none')";
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] };
for (let i = 0; i < count; i++) {
  await send('POST', `${group}/validatingadmissionpolicies`, {
    metadata: { name: `p${i}` },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] },
  });
}

/** Binds all policies to where they apply, or removes the bindings. @param {boolean} on */
async function bind(on) {
  for (let i = 0; i < count; i++) {
    if (!on) await send('DELETE', `${group}/validatingadmissionpolicybindings/b${i}`);
    else {
      await send('POST', `${group}/validatingadmissionpolicybindings`, {
        metadata: { name: `b${i}` },
        spec: { policyName: `p${i}`, validationActions: ['Deny'] },
      });
    }
  }
}

const configMap = (/** @type {number} */ i) => ({
  metadata: { name: 'obj-1' },
  data: { a: 'x'.repeat(1_000), b: 'y'.repeat(1_000), c: `${i}` },
});
const path = '/api/v1/namespaces/default/configmaps';
await send('POST', path, configMap(0));

/** CPU time of an update (microseconds). */
async function cost() {
  const { user, system } = process.cpuUsage();
  for (let i = 0; i < repeats; i++) await send('PUT', `${path}/obj-1`, configMap(i));
  const now = process.cpuUsage();
  return (now.user + now.system - user - system) / repeats;
}

const costs = [];
for (let round = 0; round < rounds; round++) {
  const without = await cost();
  await bind(true);
  costs.push((await cost()) - without);
  await bind(false);
}
// The first rounds warm up the JIT.
const settled = costs.slice(rounds / 3).sort((a, b) => a - b);
console.log(JSON.stringify({ added: settled[settled.length >> 1], count, length: expression.length }));
await server.close();
