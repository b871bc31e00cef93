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

/** The parts that the command line selects from. */
const parts = { decoders: targets, requests: generators, abuse: scenarios };
/** The texts that choose something: its part, its name after its part, or the end of its name. */
const textsOf = (part: string, name: string) => [part, `${part}/${name}`, name.slice(name.lastIndexOf('-') + 1)];
const known = Object.entries(parts).flatMap(([part, all]) => all.flatMap(({ name }) => textsOf(part, name)));
const unknown = only.filter((text) => !known.includes(text));
if (unknown.length > 0) {
  console.error(`--only: there is no ${unknown.join(', ')}`);
  process.exit(1);
}

/** The selection within a part. */
function chosen<T extends { readonly name: string }>(part: string, all: readonly T[]): readonly T[] {
  return all.filter(({ name }) => textsOf(part, name).some((text) => only.includes(text)));
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
