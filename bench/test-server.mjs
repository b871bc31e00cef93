// A program with a test server: the time to the first answer, that of further servers, and the memory of it all, as JSON.
const began = performance.now();
const { testServer } = await import('../dist/server/testing.js');
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const configMaps = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };

async function use() {
  const server = await testServer();
  await server.client.create(configMaps, configMap);
  return server;
}

const server = await use();
const first = performance.now() - began;
const megabytes = process.memoryUsage.rss() / 1024 ** 2;
await server.close();
const times = [];
for (let i = 0; i < 30; i++) {
  const started = performance.now();
  const other = await use();
  times.push(performance.now() - started);
  await other.close();
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ first, further: times[times.length >> 1], megabytes }));
