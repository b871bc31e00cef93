// The rows of the benchmark table: each measures and reports one or more figures.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { customTypes } from './definitions.mjs';
import { etcdRows } from './etcd.mjs';
import { noisy } from './noisy.mjs';
import {
  bare,
  bind,
  call,
  configMap,
  configMaps,
  fill,
  identityProvider,
  load,
  longestHold,
  memory,
  orch,
  probed,
  sleep,
  token,
  userToken,
} from './servers.mjs';

/**
 * @typedef {import('./servers.mjs').Server} Server
 * @typedef {{ name: string, points: [percentile: number, ms: number][] }} Series a curve of a picture
 * @typedef {{
 *   seconds: number, rounds: number, objects: number, bindings: number, connections: number,
 *   report: (figure: string, value: number, budget: string, met: boolean, detail: string, series?: Series[]) => void,
 * }} Bench
 * @typedef {(bench: Bench) => Promise<void>} Row
 */

const here = dirname(fileURLToPath(import.meta.url));
const median = (/** @type {number[]} */ values) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;

/**
 * Runs two jobs in alternation, one at each server, and reports the median of their ratio.
 * @param {Pick<Bench, 'rounds' | 'report'>} bench @param {string} figure @param {number} budget 0: none
 * @param {[object, Server]} ours @param {[object, Server]} theirs
 */
async function compare({ rounds, report }, figure, budget, ours, theirs) {
  const ratios = [];
  const computing = [];
  let text = '';
  for (let round = 0; round < rounds; round++) {
    const other = await load(...theirs);
    const our = await load(...ours);
    ratios.push(our.rate / other.rate);
    computing.push(other.computed / our.computed);
    text = `${Math.round(our.rate)}/s against ${Math.round(other.rate)}/s`;
  }
  const ratio = median(ratios);
  const detail = `${text}; by computing time ${median(computing).toFixed(2)}`;
  report(figure, ratio, budget === 0 ? 'none' : `≥ ${budget}`, ratio >= budget, detail);
}

/** Runs the same job at a server and at a baseline program. @param {Bench} bench @param {string} figure @param {number} budget @param {object} job @param {Server} server @param {string} kind @param {Uint8Array | string} [body] */
async function against(bench, figure, budget, job, server, kind, body = '') {
  const other = await bare(kind, server, body);
  await compare(bench, figure, budget, [job, server], [job, other]);
  other.child.kill();
}

let made = 0;

/** Runs a row with its own server, filled with `count` objects. @param {number} count @param {number} size @param {(server: Server) => Promise<void>} work @param {typeof orch} make */
async function withObjects(count, size, work, make = orch) {
  made += 1;
  const server = await make(`data-${made}`);
  await fill(server, count, size);
  await work(server);
  server.child.kill();
}

/** @type {Row} */
async function start({ report }) {
  (await orch('data')).child.kill();
  await sleep(300);
  const server = await orch('data');
  report('start to ready', server.ms, '< 500 ms', server.ms < 500, 'second start, embedded store');
  await sleep(1500);
  const rss = memory(server, 'VmRSS');
  report('idle memory', rss, '< 120 MB', !(rss >= 120), 'resident');
  server.child.kill();
}

const requests = (
  /** @type {Pick<Bench, 'seconds'>} */ { seconds },
  /** @type {number} */ connections,
  /** @type {object} */ rest,
) => ({
  kind: 'requests',
  seconds,
  connections,
  ...rest,
});

/** @type {Row} */
const get = (bench) =>
  withObjects(1, 2500, async (server) => {
    const path = `${configMaps}/obj-0000000`;
    const body = await call(server, 'GET', path);
    await against(bench, 'GET 2.5 KB', 0.6, requests(bench, 32, { method: 'GET', path }), server, 'get', body);
  });

/**
 * Compares the computing time of a GET on two servers without contention. The difference is small, so they take turns of
 * some milliseconds. @param {Pick<Bench, 'seconds' | 'rounds'>} bench @param {{ server: Server, token: string }} ours @param
 * {{ server: Server, token: string }} theirs
 */
async function compareGets({ rounds, seconds }, ours, theirs) {
  const sides = [ours, theirs].map(({ server: { port, pid, ca }, token }) => ({ port, pid, ca, token }));
  const turns = Math.ceil(rounds * seconds * 10);
  const job = { kind: 'alternation', sides, connections: 32, turns, each: 400, path: `${configMaps}/obj-0000000` };
  const { computedInTurns: [our = [], their = []] = [] } = await load(job, ours.server);
  return {
    ratio: median(our.map((computed, turn) => computed / (their[turn] ?? 0))),
    our: median(our),
    their: median(their),
  };
}

/** @param {Bench} bench @param {string} figure @param {number} budget @param {Awaited<ReturnType<typeof compareGets>>} compared */
function reportGets({ report }, figure, budget, { ratio, our, their }) {
  const [ourUs, theirUs] = [our, their].map((seconds) => (seconds * 1e6).toFixed(1));
  const detail = `computing time of the event loop, ${ourUs} against ${theirUs} µs`;
  report(figure, ratio, `≤ ${budget}`, !(ratio > budget), detail);
}

/** GET by a user whose right comes from a role, against GET by a member of system:masters. @type {Row} */
const roles = (bench) =>
  withObjects(1, 2500, async (server) => {
    await bind(server, bench.bindings);
    const figure = `GET by a user with roles among ${bench.bindings} bindings, against an administrator`;
    reportGets(bench, figure, 1.1, await compareGets(bench, { server, token: userToken }, { server, token }));
  });

/**
 * GET with priority and fairness, against one without: the median of several pairs of servers, because two processes that do
 * the same differ by more than the budget. @type {Row}
 */
async function fairGet(bench) {
  const start = async (/** @type {boolean} */ fair) => {
    const server = await orch(`fair-${fair}-${made++}`, [], [`--enable-priority-and-fairness=${fair}`]);
    await fill(server, 1, 2500);
    await bind(server, 1);
    return { server, token: userToken };
  };
  const pairs = [];
  for (let pair = 0; pair < 2 * bench.rounds - 1; pair++) {
    const [fair, plain] = [await start(true), await start(false)];
    pairs.push(await compareGets(bench, fair, plain));
    for (const { server } of [fair, plain]) server.child.kill();
  }
  pairs.sort((a, b) => a.ratio - b.ratio);
  const compared = pairs[bench.rounds - 1];
  if (compared !== undefined) reportGets(bench, 'GET with priority and fairness, against without', 1.03, compared);
}

/** GET with a token of an identity provider, against GET with a static token; both of an administrator. @type {Row} */
const openId = (bench) =>
  withObjects(0, 2500, async (other) => {
    const provider = await identityProvider(other);
    await withObjects(
      1,
      2500,
      async (server) => {
        const path = `${configMaps}/obj-0000000`;
        const known = () => call(server, 'GET', path, undefined, { authorization: `Bearer ${provider.token}` });
        for (let tries = 0; tries < 50 && (await known().catch(() => undefined)) === undefined; tries++)
          await sleep(200);
        const figure = 'GET with a token of an identity provider, against a static one';
        reportGets(bench, figure, 1.1, await compareGets(bench, { server, token: provider.token }, { server, token }));
      },
      (name) => orch(name, [], provider.flags),
    );
    provider.close();
  });

/** Idle connections: the memory of each, and the slowdown of other requests. @type {Row} */
const idle = ({ seconds, connections, report }) =>
  withObjects(1, 2500, async (server) => {
    const path = `${configMaps}/obj-0000000`;
    const body = await call(server, 'GET', path);
    for (const [name, protocol] of /** @type {const} */ ([
      ['HTTP/1.1', 'http/1.1'],
      ['HTTP/2', 'h2'],
    ])) {
      const job = { kind: 'idle', protocol, connections, seconds, path };
      const other = await bare('idle', server, body);
      const theirs = (await load(job, other)).kilobytes ?? Number.NaN;
      other.child.kill();
      const { kilobytes = Number.NaN, slower = Number.NaN } = await load(job, server);
      const detail = `${kilobytes.toFixed(1)} KB against ${theirs.toFixed(1)} KB of ${connections} connections`;
      report(`memory of an idle connection, ${name}`, kilobytes / theirs, '≤ 1.2', !(kilobytes / theirs > 1.2), detail);
      report(`p99 of GET during ${connections} of them`, slower, '≤ 2', slower <= 2, 'times that during 500');
    }
  });

/** One change at a time, and as many as are answered, to 500 watchers: the computing time of an event. @type {Row} */
const fanout = (bench) =>
  withObjects(16, 2500, async (server) => {
    const object = JSON.parse((await call(server, 'GET', `${configMaps}/obj-0000000`)).toString());
    const frame = `${JSON.stringify({ type: 'MODIFIED', object })}\n`;
    const watchPath = `${configMaps}?watch=1&resourceVersion=`;
    const change = {
      method: 'PATCH',
      body: '{"metadata":{"annotations":{"i":"$I"}}}',
      contentType: 'application/merge-patch+json',
      watchers: 500,
    };
    const warm = { ...requests({ seconds: 3 }, 16, change), path: `${configMaps}/obj-00000$C` };
    await load(warm, server);
    const other = await bare('fanout', server, frame);
    const jobs = /** @type {const} */ ([
      ['one change to 500 watchers', 0.45, { kind: 'fanout', changes: 100, path: `${configMaps}/obj-0000000` }],
      [
        'changes by 16 clients to 500 watchers',
        0.25,
        { kind: 'flood', writers: 16, path: `${configMaps}/obj-00000$C` },
      ],
    ]);
    for (const [figure, budget, job] of jobs) {
      const ratios = [];
      let text = '';
      for (let round = 0; round < bench.rounds; round++) {
        const { metadata } = JSON.parse((await call(server, 'GET', `${configMaps}?limit=1`)).toString());
        const sent = { seconds: bench.seconds, ...change, ...job, watchPath: watchPath + metadata.resourceVersion };
        const theirs = await load(sent, other);
        const ours = await load(sent, server);
        ratios.push(theirs.computed / ours.computed);
        text = `${micros(ours.computed)} against ${micros(theirs.computed)} µs, ${Math.round(ours.rate)} events/s`;
      }
      const ratio = median(ratios);
      bench.report(`${figure}, by computing time of an event`, ratio, `≥ ${budget}`, ratio >= budget, text);
    }
    other.child.kill();
  });

const micros = (/** @type {number} */ seconds) => (seconds * 1e6).toFixed(1);

/** @type {Row} */
const create = (bench) =>
  withObjects(0, 2500, async (server) => {
    const body = JSON.stringify(configMap('b-$ID-$I', 2500));
    const job = requests(bench, 64, { method: 'POST', path: configMaps, body });
    await against(bench, 'CREATE 2.5 KB, durable, 64 clients', 0.13, job, server, 'create');
  });

/** Each client patches one field of its own object. @type {Row} */
const patch = (bench) =>
  withObjects(64, 2500, async (server) => {
    const stored = await call(server, 'GET', `${configMaps}/obj-0000000`);
    const path = `${configMaps}/obj-00000$C`;
    const merge = { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: '{"data":{"c":"$I"}}' };
    const intent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'obj-00000$C' }, data: { d: '$I' } };
    const apply = {
      method: 'PATCH',
      path: `${path}?fieldManager=bench`,
      contentType: 'application/apply-patch+yaml',
      body: JSON.stringify(intent),
    };
    const rows = /** @type {const} */ ([
      ['merge PATCH of one field of 2.5 KB, durable, 64 clients', 0.14, merge],
      ['apply PATCH of one field of 2.5 KB, durable, 64 clients', 0.12, apply],
    ]);
    for (const [figure, budget, job] of rows) {
      await against(bench, figure, budget, requests(bench, 64, job), server, 'change', stored);
    }
  });

/** A patch of an object about which a webhook on loopback is asked, and one of another object. @type {Row} */
const webhook = (bench) =>
  withObjects(2, 2500, async (server) => {
    const hook = await bare('webhook', server, '');
    const group = 'admissionregistration.orch.io';
    const operation = { op: 'add', path: '/metadata/labels', value: { hooked: 'yes' } };
    const jsonPatch = { 'content-type': 'application/json-patch+json' };
    await call(server, 'PATCH', `${configMaps}/obj-0000001`, [operation], jsonPatch);
    await call(server, 'POST', `/apis/${group}/v1/validatingwebhookconfigurations`, {
      metadata: { name: 'bench' },
      webhooks: [
        {
          name: 'hook.bench.example.com',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
          objectSelector: { matchLabels: { hooked: 'yes' } },
          clientConfig: {
            url: `https://127.0.0.1:${hook.port}/`,
            caBundle: readFileSync(server.ca).toString('base64'),
          },
        },
      ],
    });
    const job = (/** @type {string} */ name) =>
      requests(bench, 1, {
        method: 'PATCH',
        path: `${configMaps}/${name}`,
        contentType: 'application/merge-patch+json',
        body: '{"data":{"c":"$I"}}',
      });
    const costs = [];
    let text = '';
    for (let round = 0; round < bench.rounds; round++) {
      const without = await load(job('obj-0000000'), server);
      const asked = await load(job('obj-0000001'), server);
      costs.push(1_000 / asked.rate - 1_000 / without.rate);
      text = `${Math.round(asked.rate)}/s against ${Math.round(without.rate)}/s`;
    }
    const cost = median(costs);
    bench.report('a webhook on loopback, for each patch', cost, '< 1 ms', cost < 1, `${text}, one client`);
    hook.child.kill();
  });

/** @type {Row} */
async function policies({ report }) {
  const { stdout } = await promisify(execFile)(process.execPath, [join(here, 'policies.mjs')]);
  const { added, count, length } = JSON.parse(stdout);
  const figure = `${count} validating policies with an expression of ${length} characters, for each write`;
  report(figure, added, '< 30', added < 30, 'microseconds of computing time');
}

/** @type {Row} */
async function entries({ report }) {
  const { stdout } = await promisify(execFile)(process.execPath, [join(here, 'apply-cost.mjs')]);
  const cost = Number(stdout);
  report('apply to 1,000 owned entries', cost, '< 3', cost < 3, 'times parsing and serialising the object as JSON');
}

/** @type {Row} */
async function language({ report }) {
  const { stdout } = await promisify(execFile)(process.execPath, [join(here, 'cel.mjs')]);
  const { comparison, loop, compilation, length } = JSON.parse(stdout);
  const evaluations = (/** @type {string} */ rule, /** @type {number} */ rate, /** @type {number} */ budget) =>
    report(`rule ${rule}`, rate / 1e6, `≥ ${budget}`, rate / 1e6 >= budget, 'million evaluations a second');
  evaluations('self.replicas <= self.maxReplicas', comparison, 5);
  evaluations('self.list.all(x, x.size() < 10), 100 strings', loop, 0.2);
  report(`compiling a rule of ${length} characters`, compilation, '< 0.2', compilation < 0.2, 'milliseconds');
}

/** Decisions about what nodes may do, with 5,000 nodes and 150,000 pods. @type {Row} */
async function nodes({ report }) {
  const { stdout } = await promisify(execFile)(process.execPath, [join(here, 'nodes.mjs')]);
  const { decision, change, megabytes } = JSON.parse(stdout);
  const detail = `microseconds; a pod is taken away and added in ${change.toFixed(1)}, the graph has ${Math.round(megabytes)} MB`;
  report('decision about a node, 150,000 pods', decision, '< 10', decision < 10, detail);
}

const as = (/** @type {string} */ kind) => `application/json;as=${kind};g=meta.orch.io;v=v1`;

/** Variants of a large list: query parameters and media types. */
const lists = /** @type {const} */ ([
  ['by a label that all have', '?labelSelector=app%3Dbench', undefined],
  ['by a label that 1 % have', '?labelSelector=part%3Dp7', undefined],
  ['by a field that all have', '?fieldSelector=metadata.name%21%3Dnone', undefined],
  ['first page of 500', '?limit=500', undefined],
  ['metadata alone', '', as('PartialObjectMetadataList')],
  ['as a table', '', as('Table')],
  ['in protobuf', '', 'application/vnd.orch.protobuf'],
]);

/** A control plane without workloads against a full one: its start, and its memory at rest. @type {Row} */
async function profile({ rounds, report }) {
  const make = (/** @type {string} */ name) =>
    orch(`profile-${name}`, [], [`--api-profile=${name}`, '--controllers=*']);
  const names = ['full', 'generic'];
  for (const name of names) (await make(name)).child.kill();
  await sleep(300);
  const ratios = [];
  for (let round = 0; round < rounds; round++) {
    /** @type {number[]} */
    const ms = [];
    for (const name of names) {
      const server = await make(name);
      ms.push(server.ms);
      server.child.kill();
      await sleep(300);
    }
    const [full = 0, generic = 0] = ms;
    ratios.push(generic / full);
  }
  const ratio = median(ratios);
  report('start to ready without workloads', ratio, '≤ 1', !(ratio > 1), 'of that with workloads');
  const [full, generic] = [await make('full'), await make('generic')];
  await sleep(10_000);
  const megabytes = memory(full, 'RssAnon') - memory(generic, 'RssAnon');
  report('idle memory that workloads take', megabytes, '> 0 MB', megabytes > 0, 'RssAnon, after 10 s');
  for (const server of [full, generic]) server.child.kill();
}

/**
 * The cost of the controllers of a server: its start, its memory at rest, and writes of objects that no controller acts on.
 * @type {Row}
 */
async function controllers(bench) {
  const { rounds, report } = bench;
  const make = (/** @type {string} */ name, /** @type {string} */ on) => orch(name, [], [`--controllers=${on}`]);
  for (const [name, on] of kinds) (await make(name, on)).child.kill();
  await sleep(300);
  const later = [];
  for (let round = 0; round < rounds; round++) {
    /** @type {number[]} */
    const ms = [];
    for (const [name, on] of kinds) {
      const server = await make(name, on);
      ms.push(server.ms);
      server.child.kill();
      await sleep(300);
    }
    const [without = 0, all = 0] = ms;
    later.push(all - without);
  }
  const ms = median(later);
  report('start to ready with controllers', ms, '< 30 ms', ms < 30, 'more than without');
  const [without, all] = [await make('without', '-*'), await make('with', '*')];
  await sleep(10_000);
  const megabytes = memory(all, 'RssAnon') - memory(without, 'RssAnon');
  report('idle memory of controllers', megabytes, '< 10 MB', !(megabytes >= 10), 'RssAnon, after 10 s');
  for (const server of [without, all]) await fill(server, 64, 2500);
  const create = { method: 'POST', path: configMaps, body: JSON.stringify(configMap('b-$ID-$I', 2500)) };
  const patch = {
    method: 'PATCH',
    path: `${configMaps}/obj-00000$C`,
    body: '{"data":{"c":"$I"}}',
    contentType: 'application/merge-patch+json',
  };
  for (const [figure, budget, job] of /** @type {const} */ ([
    ['CREATE 2.5 KB with controllers, against without', 0.85, create],
    ['merge PATCH of one field of 2.5 KB with controllers, against without', 0.8, patch],
  ])) {
    const sent = requests(bench, 64, job);
    await compare(bench, figure, budget, [sent, all], [sent, without]);
  }
  for (const { child } of [without, all]) child.kill();
}

/** Servers without controllers and with all of them: the names of their folders, and their flag. */
const kinds = /** @type {const} */ ([
  ['without', '-*'],
  ['with', '*'],
]);

/** @type {Row} */
const list = (bench) =>
  withObjects(10_000, 2000, async (server) => {
    const job = requests(bench, 2, { method: 'GET', path: configMaps });
    await against(
      bench,
      'LIST 10,000 objects of 2 KB',
      0.6,
      job,
      server,
      'list',
      await call(server, 'GET', configMaps),
    );
    for (const [what, query, accept] of lists) {
      const other = requests(bench, 2, { method: 'GET', path: configMaps + query, accept });
      await compare(bench, `the same ${what}, against the whole list`, 0, [other, server], [job, server]);
    }
  });

/** A server in the process of a test. @type {Row} */
const testServer = async ({ report }) => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(here, 'test-server.mjs')]);
  const { first, further, megabytes } = JSON.parse(stdout);
  report('first test server, to its first answer', first, 'none', true, 'ms, with the loading of the package');
  report('further test server, to its first answer', further, '< 50', further < 50, 'ms, median of 30');
  report('memory of a process with a test server', megabytes, 'none', true, 'MB, resident');
};

/** The percentiles of the curves. */
const percentiles = [1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5];

/** The latency of lists of 500 objects by four clients, alone and while other clients patch. @type {Row} */
const listLatency = ({ seconds, report }) =>
  withObjects(500, 2000, async (server) => {
    const job = { ...requests({ seconds }, 4, { method: 'GET', path: configMaps }), timed: true };
    const body = '{"metadata":{"annotations":{"i":"$I"}}}';
    const patches = {
      method: 'PATCH',
      path: `${configMaps}/obj-00000$C`,
      body,
      contentType: 'application/merge-patch+json',
    };
    await load(job, server);
    /** @type {Series[]} */
    const series = [];
    for (const writers of [0, 8, 32]) {
      const [{ times = [] }] = await Promise.all([
        load(job, server),
        ...(writers === 0 ? [] : [load(requests({ seconds }, writers, patches), server)]),
      ]);
      const at = (/** @type {number} */ percent) => times[Math.floor((times.length * percent) / 100)] ?? 0;
      const name = writers === 0 ? 'no other client' : `${writers} clients that patch`;
      series.push({ name, points: percentiles.map((percent) => [percent, Math.round(at(percent) * 100) / 100]) });
    }
    const [[, median] = [0, 0], [, slowest] = [0, 0]] = [series[2]?.points[6], series[2]?.points[13]];
    const detail = `ms; median ${median}, 99th percentile ${slowest}`;
    report('LIST of 500 objects of 2 KB while 32 clients patch', median, 'none', true, detail, series);
  });

/** @type {Row} */
const many = ({ objects, report }) =>
  withObjects(
    objects,
    2000,
    async (server) => {
      await sleep(2000);
      const anon = memory(server, 'RssAnon');
      report(`memory of ${objects} objects of 2 KB`, anon, '< 500 MB', !(anon >= 500), 'RssAnon');
      const get = (/** @type {string} */ query, /** @type {string | undefined} */ accept) => () =>
        call(server, 'GET', configMaps + query, undefined, accept === undefined ? {} : { accept });
      const watch = '?watch=1&allowWatchBookmarks=true&timeoutSeconds=10';
      const works = [
        ['a list', get('', undefined)],
        ...lists.map(([what, query, accept]) => [`a list ${what}`, get(query, accept)]),
        ['a list in gzip', () => call(server, 'GET', configMaps, undefined, { 'accept-encoding': 'gzip' })],
        ['the start of a watch', get(watch, undefined)],
        [
          'deleting a tenth of them',
          () => call(server, 'DELETE', `${configMaps}?labelSelector=part+in+(p0,p1,p2,p3,p4,p5,p6,p7,p8,p9)`),
        ],
      ];
      for (const [what, work] of /** @type {[string, () => Promise<unknown>][]} */ (works)) {
        const ms = await longestHold(server, work);
        report(`event loop held by ${what} of ${objects}`, ms, '< 20 ms', ms < 20, 'longest turn, computing alone');
      }
    },
    probed,
  );

/** In the order of the table. @type {{ [name: string]: Row }} */
export const rows = {
  start,
  get,
  roles,
  fairGet,
  openId,
  idle,
  list,
  fanout,
  create,
  patch,
  webhook,
  policies,
  controllers,
  profile,
  entries,
  language,
  nodes,
  testServer,
  listLatency,
  many,
  noisy,
  customTypes,
  ...etcdRows,
};
