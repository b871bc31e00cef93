// A client of etcd and nothing else: transactions that create a key of 2.5 KB unless it is there.
//   node etcd-client.mjs HOST:PORT SECONDS CALLS      CALLS: transactions in flight
// Prints one result as JSON.
import { fileURLToPath } from 'node:url';
import * as grpc from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';

const [address = '', seconds = '3', calls = '64'] = process.argv.slice(2);
const services = await load(fileURLToPath(new URL('../src/store/etcd/rpc.proto', import.meta.url)), { longs: Number });
const kv = /** @type {{ [method: string]: any }} */ (services['etcdserverpb.KV']);
const { path, requestSerialize, responseDeserialize } = kv['Txn'];
const client = new grpc.Client(address, grpc.credentials.createInsecure());
const value = Buffer.alloc(2_500, 'x');
const id = `${process.pid.toString(36)}${Date.now().toString(36)}`;
let count = 0;

const create = () =>
  new Promise((resolve, reject) => {
    const key = Buffer.from(`/bare/${id}-${count++}`);
    const request = {
      compare: [{ key, target: 2, modRevision: 0 }],
      success: [{ requestPut: { key, value } }],
      failure: [{ requestRange: { key } }],
    };
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, (error, response) => {
      if (error === null) resolve(response);
      else reject(error);
    });
  });

/** Transactions a second, and the CPU time of each (s). @param {number} ms */
async function measure(ms) {
  const [before, started, computing] = [count, process.hrtime.bigint(), process.cpuUsage()];
  const stop = Date.now() + ms;
  await Promise.all(
    Array.from({ length: Number(calls) }, async () => {
      while (Date.now() < stop) await create();
    }),
  );
  const made = count - before;
  const { user, system } = process.cpuUsage(computing);
  const rate = (made * 1e9) / Number(process.hrtime.bigint() - started);
  return { rate, computed: (user + system) / 1e6 / made };
}

await measure(Number(seconds) * 300);
console.log(JSON.stringify(await measure(Number(seconds) * 1_000)));
process.exit(0);
