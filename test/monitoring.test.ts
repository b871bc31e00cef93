import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Client, createClient, httpsTransport, inProcessTransport } from '../src/client/index.ts';
import { declaredMetrics as metrics } from '../src/http/testing/declared-metrics.ts';
import { until } from '../src/meta/testing/until.ts';
import { systemClock } from '../src/server/clock.ts';
import { createServer, type OrchServer, openMemoryStore } from '../src/server/index.ts';
import { storeLink } from '../src/server/testing/store-link.ts';
import { evaluate, type Scraped, scraped } from './support/promql.ts';

// The queries of docs/monitoring over scrapes of servers with some traffic.

const documents = fileURLToPath(new URL('../docs/monitoring', import.meta.url));
const read = (name: string) => readFileSync(join(documents, name), 'utf8');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}
interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly panels: readonly Panel[];
}
interface Rules {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly for?: string;
      readonly labels: { readonly severity: string };
      readonly annotations: { readonly summary: string; readonly description: string };
    }[];
  }[];
}
const dashboard = JSON.parse(read('dashboard.json')) as Dashboard;
const { groups } = parse(read('alerts.yaml')) as Rules;
const rules = groups.flatMap((group) => group.rules);

/** As Grafana does, with every job and instance chosen. */
const expand = (query: string) =>
  query.replaceAll('$__rate_interval', '1m').replaceAll('"$job"', '".*"').replaceAll('"$instance"', '".*"');

const folder = mkdtempSync(join(tmpdir(), 'monitoring-'));
const open: OrchServer[] = [];
let busy: OrchServer;
let series: Scraped;
let scrapes: readonly string[] = [];

const send = async (
  server: OrchServer,
  method: string,
  url: string,
  body?: object,
  more: { readonly [name: string]: string } = {},
): Promise<string> => {
  const headers = { 'content-type': 'application/json', ...more };
  const given = body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) };
  const response = await server.client.request({ method, url, headers, ...given });
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};
const scrape = (server: OrchServer) => send(server, 'GET', '/metrics');

const maps = '/api/v1/namespaces/default/configmaps';
const metadata = (name: string) => ({ metadata: { name } });

/** Webhooks that nobody serves. */
const webhook = (name: string, failurePolicy: string, resource: string) => ({
  ...metadata(name),
  webhooks: [
    {
      name: `${name}.example.com`,
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] }],
      failurePolicy,
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
});

/** A custom resource with two versions. */
const schema = { openAPIV3Schema: { type: 'object' } };
const widgets = {
  ...metadata('widgets.example.com'),
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [
      { name: 'v1', served: true, storage: true, schema },
      { name: 'v2', served: true, storage: false, schema },
    ],
  },
};

/** A client with the certificate of a kubeconfig, or with a bearer token in its place. */
function clientOf(kubeconfig: string, token?: string): Client {
  const config = parse(kubeconfig) as {
    readonly clusters: readonly [{ readonly cluster: { readonly [key: string]: string } }];
    readonly users: readonly [{ readonly user: { readonly [key: string]: string } }];
  };
  const [{ cluster }] = config.clusters;
  const [{ user }] = config.users;
  const pem = (data = '') => Buffer.from(data, 'base64').toString();
  const transport = httpsTransport({
    server: cluster['server'] ?? '',
    ca: pem(cluster['certificate-authority-data']),
    ...(token === undefined && {
      certificate: { cert: pem(user['client-certificate-data']), key: pem(user['client-key-data']) },
    }),
  });
  return createClient({ transport, baseHeaders: token === undefined ? {} : { authorization: `Bearer ${token}` } });
}

/** A server with its own store and controllers. The result makes traffic. */
async function startBusy(): Promise<{ readonly server: OrchServer; readonly work: (round: string) => Promise<void> }> {
  const server = await createServer({ apiDomain: 'k8s.io', securePort: 0, store: 'lmdb', dataDir: folder });
  open.push(server);
  const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  await send(server, 'POST', hooks, webhook('required', 'Fail', 'secrets'));
  await send(server, 'POST', hooks, webhook('optional', 'Ignore', 'endpoints'));
  await send(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets);
  const { kubeconfig } = await server.listen();
  const administrator = clientOf(kubeconfig);
  const nobody = clientOf(kubeconfig, 'nobody');
  return {
    server,
    async work(round) {
      const place = { apiVersion: 'v1', resource: 'configmaps', namespace: 'default' };
      const watch = await server.client.watch(place);
      await send(server, 'POST', maps, metadata(round));
      for await (const { object } of watch) if (object.metadata.name === round) break;
      await send(server, 'GET', `${maps}/${round}`);
      await send(server, 'GET', '/api/v1/namespaces/default/endpoints');
      await send(server, 'PUT', `${maps}/${round}`, { ...metadata(round), data: { a: round } });
      await send(server, 'DELETE', `${maps}/${round}`);
      await send(server, 'POST', '/api/v1/namespaces/default/secrets', metadata(round));
      await send(server, 'POST', '/api/v1/namespaces/default/endpoints', metadata(round));
      await expect(nobody.list(place)).rejects.toThrow('Unauthorized');
      await administrator.list(place);
    },
  };
}

const flowGroup = 'flowcontrol.apiserver.k8s.io/v1';
/** A priority level that refuses more than one request at a time, and the schema that sends jane's requests there. */
const narrowLevel = {
  metadata: { name: 'narrow' },
  spec: {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
  },
};
const narrowSchema = {
  metadata: { name: 'narrow' },
  spec: {
    priorityLevelConfiguration: { name: 'narrow' },
    matchingPrecedence: 100,
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: 'jane' } }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      },
    ],
  },
};

/** A server that refuses requests of a user, over a store that fails now and then. */
async function startNarrow(): Promise<{
  readonly server: OrchServer;
  readonly work: (round: string) => Promise<void>;
}> {
  const link = storeLink(openMemoryStore({ clock: systemClock }));
  const settings = { apiDomain: 'k8s.io', controllers: '-*' };
  const server = await createServer(settings, { store: link.store });
  open.push(server);
  await send(server, 'POST', `/apis/${flowGroup}/prioritylevelconfigurations`, narrowLevel);
  await send(server, 'POST', `/apis/${flowGroup}/flowschemas`, narrowSchema);
  const asJane = { 'impersonate-user': 'jane' };
  return {
    server,
    async work(round) {
      await Promise.all([1, 2, 3].map(() => send(server, 'GET', '/version', undefined, asJane)));
      // From here on the cache of config maps is filled.
      await send(server, 'POST', maps, metadata(`${round}-a`));
      link.become('refused');
      await send(server, 'POST', maps, metadata(`${round}-b`));
      link.become('up');
      await until(async () => expect(await send(server, 'GET', '/readyz')).toBe('ok'));
    },
  };
}

beforeAll(async () => {
  const targets = await Promise.all([startBusy(), startNarrow()]);
  busy = targets[0].server;
  const texts: string[][] = [];
  for (const round of ['first', 'second']) {
    for (const { work } of targets) await work(round);
    texts.push(await Promise.all(targets.map(({ server }) => scrape(server))));
  }
  const [before = [], after = []] = texts;
  scrapes = after;
  series = scraped(
    targets.map((_, i) => ({
      own: { job: 'orch', instance: `server-${i}` },
      before: before[i] ?? '',
      after: after[i] ?? '',
    })),
  );
});
afterAll(async () => {
  await Promise.all(open.map((server) => server.close()));
  rmSync(folder, { recursive: true, force: true });
});

/** Why a query has no value; undefined when it has one. */
function problemOf(query: string): string | undefined {
  try {
    const value = evaluate(query, series);
    return typeof value !== 'number' && value.length === 0 ? 'the result is empty' : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('a scrape', () => {
  it('has each series once, also of a resource with several versions', () => {
    const [busy = ''] = scrapes;
    expect(busy.match(/^apiserver_storage_objects\{resource="widgets.example.com"\}.*/gm)).toHaveLength(1);
    for (const text of scrapes) {
      const samples = text.match(/^[^#\n]*(?= )/gm) ?? [];
      expect(samples.length).toBeGreaterThan(1_000);
      expect(new Set(samples).size).toBe(samples.length);
    }
  });

  it('has what the listener and its certificates are', () => {
    const [busy = ''] = scrapes;
    expect(busy).toMatch(/^orch_connections [1-9]/m);
    const [, expires = ''] =
      /^orch_certificate_expiration_timestamp_seconds\{certificate="serving"\} (.*)$/m.exec(busy) ?? [];
    expect(Number(expires)).toBeGreaterThan(Date.now() / 1000);
    expect(busy).toMatch(/^apiserver_client_certificate_expiration_seconds_count [1-9]/m);
    expect(busy).toMatch(/^kubernetes_build_info\{major="1",minor="33",git_version="v1\.33\.[^}]*\} 1$/m);
  });
});

describe('docs/monitoring/dashboard.json', () => {
  const { panels } = dashboard;
  const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

  it('is a dashboard whose panels have a place of their own', () => {
    expect(dashboard).toMatchObject({ uid: 'orch', title: 'orch API server', schemaVersion: 39 });
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, i) => `${x + (i % w)}/${y + Math.floor(i / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
    for (const { type, description, targets = [] } of panels) {
      if (type === 'row') continue;
      expect(type).toBe('timeseries');
      expect(description).toMatch(/\.$/);
      expect(targets.length).toBeGreaterThan(0);
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
      for (const { legendFormat } of targets) expect(legendFormat).not.toBe('');
    }
  });

  it('has queries that all find something in a scrape', () => {
    expect(queries.length).toBeGreaterThan(50);
    expect(queries.filter(({ expr }) => !expr.includes('{job=~"$job",instance=~"$instance"'))).toEqual([]);
    const problems = queries.map(({ title, expr }) => [title, problemOf(expand(expr))]);
    expect(problems.filter(([, problem]) => problem !== undefined)).toEqual([]);
  });

  it('has legends of labels that the results have', () => {
    const wrong = panels.flatMap(({ title, targets = [] }) =>
      targets.flatMap(({ expr, legendFormat }) => {
        const value = evaluate(expand(expr), series);
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
        return named
          .filter((label) => typeof value === 'number' || value.every(({ labels }) => labels[label] === undefined))
          .map((label) => `${title}: ${label}`);
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('has variables from metrics that there are', () => {
    const names = dashboard.templating.list.flatMap(({ definition = '' }) => /\((\w+)/.exec(definition)?.[1] ?? []);
    expect(names).toEqual(['orch_build_info', 'orch_build_info']);
    expect(series.get('orch_build_info')?.length).toBe(2);
  });
});

describe('docs/monitoring/alerts.yaml', () => {
  it('has rules that say what is wrong and what to do', () => {
    expect(rules.length).toBeGreaterThan(20);
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations, for: time = '1m' } of rules) {
      expect(alert).toMatch(/^Orch[A-Z]\w+$/);
      expect(['warning', 'critical']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
      expect(annotations.description).toMatch(/\.$/);
      expect(time).toMatch(/^\d+[mh]$/);
    }
  });

  it('has queries that all find something in a scrape, but for those of what is rare', () => {
    const problems = rules.map(({ alert, expr }) => [alert, problemOf(expr)]);
    // They have no series before it happens.
    expect(Object.fromEntries(problems.filter(([, problem]) => problem !== undefined))).toEqual({
      OrchAuditLosesEvents: 'no series for apiserver_audit_error_total{job="orch"}',
      OrchTerminatesRequests: 'no series for apiserver_request_terminations_total{job="orch",code!="429"}',
    });
    const declared = metrics.map(({ name }) => name);
    expect(declared).toEqual(
      expect.arrayContaining(['apiserver_audit_error_total', 'apiserver_request_terminations_total']),
    );
  });

  it('has texts with labels that the results have', () => {
    const wrong = rules.flatMap(({ alert, expr, annotations }) => {
      if (problemOf(expr) !== undefined) return [];
      const value = evaluate(expr, series);
      const named = [...`${annotations.summary} ${annotations.description}`.matchAll(/\$labels\.(\w+)/g)];
      return named
        .filter(
          ([, label = '']) => typeof value === 'number' || value.every(({ labels }) => labels[label] === undefined),
        )
        .map(([, label]) => `${alert}: ${label}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('the check of queries', () => {
  it.each([
    ['sum(rate(no_such_metric_total[1m]))', 'no series for no_such_metric_total'],
    ['apiserver_request_total{verb="NONE"}', 'no series for apiserver_request_total{verb="NONE"}'],
    ['sum by (node) (apiserver_request_total)', 'no series has the label node'],
    ['rate(process_resident_memory_bytes[1m])', 'rate of process_resident_memory_bytes, which is not a counter'],
    ['process_open_fds / on (node) process_max_fds', 'process_open_fds / on (node) process_max_fds is not known'],
    ['orch_limit_used / process_max_fds', 'the result is empty'],
    [
      'histogram_quantile(0.9, sum by (verb) (rate(apiserver_request_duration_seconds_bucket[1m])))',
      'a quantile needs the buckets of a histogram',
    ],
    ['sum(rate(apiserver_request_total[1m])', 'syntax error at 37'],
  ])('finds what is wrong with %s', (query, problem) => {
    expect(problemOf(query)).toBe(problem);
  });
});

describe('docs/monitoring.md', () => {
  const page = readFileSync(join(documents, '../monitoring.md'), 'utf8');

  it('names panels, alerts, metrics and files that there are', () => {
    const [, table = ''] = /^\| question .*\n\|-.*\n((?:\|.*\n)+)/m.exec(page) ?? [];
    const cells = table
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(cells.length).toBeGreaterThan(5);
    const titles = dashboard.panels.map(({ title }) => title);
    const begins = (name: string) => titles.some((title) => title.startsWith(name));
    expect(cells.flatMap(([, , named = '']) => named.split(', ')).filter((name) => !begins(name))).toEqual([]);
    const alerts = rules.map(({ alert }) => `\`${alert}\``);
    expect(alerts).toEqual(expect.arrayContaining(cells.flatMap(([, , , named = '']) => named.split(', '))));
    const named = [...page.matchAll(/`(orch_\w+)`/g)].map(([, name]) => name);
    expect(metrics.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
    for (const [, path = ''] of page.matchAll(/\]\((monitoring[^)]*|metrics\.md)\)/g)) {
      expect(existsSync(join(documents, '..', path))).toBe(true);
    }
  });

  it('binds a role that lets a service account scrape, and nothing else', async () => {
    const [account, binding] = [...(/```yaml\n(apiVersion: v1\n.*?)```/s.exec(page)?.[1]?.split('---\n') ?? [])].map(
      (text) => parse(text) as object,
    );
    const make = async (url: string, body?: object) => JSON.parse(await send(busy, 'POST', url, body)) as object;
    expect(await make('/api/v1/namespaces/kube-system/serviceaccounts', account)).toMatchObject({
      kind: 'ServiceAccount',
    });
    const bound = await make('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding);
    expect(bound).toMatchObject({ kind: 'ClusterRoleBinding' });
    const request = await make('/api/v1/namespaces/kube-system/serviceaccounts/prometheus/token', { spec: {} });
    expect(request).toMatchObject({ kind: 'TokenRequest' });
    const { status } = request as { status: { token: string } };
    const client = createClient({ transport: inProcessTransport(busy.handler) });
    const answer = async (url: string) => {
      const headers = { authorization: `Bearer ${status.token}` };
      const { body, ...response } = await client.request({ method: 'GET', url, headers });
      return { status: response.status, body: await text(Readable.from(body)) };
    };
    expect(await answer('/metrics')).toMatchObject({ status: 200 });
    expect(await answer('/metrics/slis')).toMatchObject({ status: 200 });
    expect(await answer(maps)).toMatchObject({ status: 403 });
  });
});
