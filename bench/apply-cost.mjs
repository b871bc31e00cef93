// The cost of a server-side apply to an object with a thousand managed list entries, as a multiple of the time to parse
// and serialise the object as JSON. Prints one number. Runs in one process with a memory store.

// The build may lack type declarations.
const { createServer } = await import(new URL('../dist/server/index.js', import.meta.url).href);
const entries = 1_000;
const rounds = 15;
const repeats = 10;
const server = await createServer({ controllers: '-*' });
const path = '/apis/apps/v1/namespaces/default/deployments/large';
const headers = { 'content-type': 'application/apply-patch+yaml' };
const peer = { address: '', certificate: { commonName: 'bench', organizations: ['system:masters'] } };

const env = Array.from({ length: entries }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value of number ${i}` }));

/** @param {string} image */
const deployment = (image) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'large' },
  spec: {
    selector: { matchLabels: { app: 'large' } },
    template: { metadata: { labels: { app: 'large' } }, spec: { containers: [{ name: 'main', image, env }] } },
  },
});

/** @param {Buffer} body @returns {Promise<string>} */
async function apply(body) {
  const answer = await server.handler({
    method: 'PATCH',
    url: `${path}?fieldManager=bench`,
    headers,
    peer,
    body: () => Promise.resolve(body),
    signal: new AbortController().signal,
  });
  if (answer.status >= 300 || typeof answer.body !== 'string') throw new Error(`${answer.status} ${answer.body}`);
  return answer.body;
}

const bodies = ['first', 'second'].map((image) => Buffer.from(JSON.stringify(deployment(image))));
const text = await apply(/** @type {Buffer} */ (bodies[0]));

/** CPU time (microseconds). @param {(i: number) => unknown} work */
async function cost(work) {
  const { user, system } = process.cpuUsage();
  for (let i = 0; i < repeats; i++) await work(i);
  const now = process.cpuUsage();
  return (now.user + now.system - user - system) / repeats;
}

const ratios = [];
for (let round = 0; round < rounds; round++) {
  const plain = await cost(() => JSON.stringify(JSON.parse(text)));
  ratios.push((await cost((i) => apply(/** @type {Buffer} */ (bodies[i % 2])))) / plain);
}
// The first rounds warm up the JIT.
const settled = ratios.slice(5).sort((a, b) => a - b);
console.log(settled[settled.length >> 1]);
await server.close();
