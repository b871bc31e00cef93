// npm run fuzz [-- --seconds=120 --seed=N --only=decoders,requests,abuse]: fuzzes the server. Exits with status 1 when
// there are findings; their inputs are saved below test/corpus.
import { parseArgs } from 'node:util';
import { scenarios } from './abuse/index.ts';
import { abuse } from './abuse.ts';
import { fuzzDecoders } from './decoders.ts';
import { findings, say } from './report.ts';
import { generators } from './requests/index.ts';
import { fuzzRequests } from './requests.ts';
import { targets } from './targets/index.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    only: { type: 'string', default: 'decoders,requests,abuse' },
  },
});
const seed = Number(values.seed);
const seconds = Number(values.seconds);
const only = values.only.split(',');

/** What can be chosen: a part, or a name after its part. */
const parts = { decoders: targets, requests: generators, abuse: scenarios };
const known = Object.entries(parts).flatMap(([part, all]) => [part, ...all.map(({ name }) => `${part}/${name}`)]);
const unknown = only.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`--only: there is no ${unknown.join(', ')}`);
  process.exit(1);
}

/** The selection within a part: everything, or the names after a slash (`decoders/codec-json`). */
function chosen<T extends { readonly name: string }>(part: string, all: readonly T[]): readonly T[] {
  return only.includes(part) ? all : all.filter(({ name }) => only.includes(`${part}/${name}`));
}

say(`seed ${seed}, ${seconds} seconds`);
const decoders = chosen('decoders', targets);
const requests = chosen('requests', generators);
const share = seconds / ((decoders.length > 0 ? 1 : 0) + (requests.length > 0 ? 1 : 0));
if (decoders.length > 0) await fuzzDecoders(decoders, seed, share);
if (requests.length > 0) await fuzzRequests(requests, seed, share);
await abuse(chosen('abuse', scenarios));
say(findings() === 0 ? 'nothing was found' : `${findings()} findings`);
process.exit(findings() === 0 ? 0 : 1);
