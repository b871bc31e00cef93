import { STATUS_CODES } from 'node:http';
import { expect, it } from 'vitest';
import { StatusError } from '../../meta/index.ts';
import { EveryStep } from '../../meta/testing/every-step.ts';
import type { Registry } from '../../registry/index.ts';
import { createInFlight } from '../limits.ts';
import { identify } from '../request-info.ts';
import { makeFixture, realClock, requestOf } from '../testing/fixture.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { noUsage } from './process-usage.ts';
import type { RequestSeries } from './series.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

it('counts requests by verb, resource and code', async () => {
  const { send, close } = await makeFixture();
  await send('GET', `${configMaps}/absent`);
  await send('GET', `${configMaps}/absent`);
  await send('POST', `${configMaps}?dryRun=All`, { body: { metadata: { name: 'x' } } });
  const { text, headers } = await send('GET', '/metrics');
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8; escaping=underscores');
  const labels = 'group="",version="v1",resource="configmaps",subresource=""';
  expect(text).toContain(
    `apiserver_request_total{verb="GET",${labels},scope="resource",component="apiserver",dry_run="",code="404"} 2`,
  );
  expect(text).toContain(
    `apiserver_request_total{verb="POST",${labels},scope="resource",component="apiserver",dry_run="All",code="201"} 1`,
  );
  expect(text).toMatch(
    /apiserver_request_duration_seconds_bucket\{verb="GET",[^}]*resource="configmaps"[^}]*le="\+Inf"\} 2/,
  );
  // The request for the metrics is under way itself.
  expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1');
  expect(text).toContain('authentication_attempts{result="success"}');
  await close();
});

// The labels, and what counts, are those that the reference server (1.36) showed for the same requests.
it('counts an apply as APPLY, bodies by verb, and what is no resource without a component', async () => {
  const { send, close } = await makeFixture();
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const applied = { body: object, headers: { 'content-type': 'application/apply-patch+yaml' } };
  await send('PATCH', `${configMaps}/a?fieldManager=m`, applied);
  await send('GET', '/readyz');
  const { text } = await send('GET', '/metrics');
  const place = 'group="",version="v1",resource="configmaps",subresource="",scope="resource"';
  expect(text).toContain(
    `apiserver_request_total{verb="APPLY",${place},component="apiserver",dry_run="",code="201"} 1\n`,
  );
  const size = JSON.stringify(object).length;
  expect(text).toContain(
    `apiserver_request_body_size_bytes_sum{group="",resource="configmaps",verb="patch"} ${size}\n`,
  );
  expect(text).toContain(
    'apiserver_request_total{verb="GET",group="",version="",resource="",subresource="/readyz",scope="",component="",dry_run="",code="200"} 1\n',
  );
  await close();
});

it('leaves waits and dry runs out of the time that the server is judged by', async () => {
  const { registry, close } = await makeFixture();
  const metrics = metricsOf(registry);
  seriesAt(metrics, registry, 'POST', configMaps).count(201, 3, 2.5, 0);
  seriesAt(metrics, registry, 'POST', `${configMaps}?dryRun=All`).count(201, 3, 0, 0);
  // The time of day was set back during the wait.
  seriesAt(metrics, registry, 'POST', configMaps).count(201, 1, 2, 0);
  let text = '';
  for await (const piece of metrics.text(new EveryStep())) text += piece;
  const [sum, count] = ['sum', 'count'].map(
    (part) =>
      text.match(new RegExp(`^apiserver_request_sli_duration_seconds_${part}\\{verb="POST".*\\} (.*)$`, 'm'))?.[1],
  );
  expect([sum, count]).toEqual(['0.5', '2']);
  await close();
});

it('counts attempts to authenticate, and users by class', async () => {
  const { send, close } = await makeFixture();
  for (const token of ['jane', 'jane', 'wrong', '']) await send('GET', '/version', { token });
  const { text } = await send('GET', '/metrics');
  // The fixture has created a namespace, and asks for the metrics, as admin.
  expect(text.match(/^(authentication_attempts|authenticated_user_requests).*/gm)).toEqual([
    'authentication_attempts{result="success"} 5',
    'authentication_attempts{result="error"} 1',
    'authenticated_user_requests{username="admin"} 2',
    'authenticated_user_requests{username="other"} 3',
  ]);
  expect(text).toMatch(/^authentication_duration_seconds_bucket\{result="error",le="\+Inf"\} 1$/m);
  expect(text).toContain('authentication_duration_seconds_bucket{result="error",le="16.384"} ');
  await close();
});

it('has the counters of tokens', async () => {
  const { send, close } = await makeFixture();
  const { text } = await send('GET', '/metrics');
  expect(text.match(/^(serviceaccount_|authentication_token_cache_).*/gm)).toEqual([
    'authentication_token_cache_request_total{status="hit"} 0',
    'authentication_token_cache_request_total{status="miss"} 0',
    'authentication_token_cache_fetch_total{status="ok"} 0',
    'authentication_token_cache_fetch_total{status="error"} 0',
    'authentication_token_cache_active_fetch_count{status="in_flight"} 0',
    'authentication_token_cache_active_fetch_count{status="blocked"} 0',
    'serviceaccount_legacy_tokens_total 0',
    'serviceaccount_legacy_auto_token_uses_total 0',
    'serviceaccount_legacy_manual_token_uses_total 0',
    'serviceaccount_invalid_legacy_auto_token_uses_total 0',
    'serviceaccount_stale_tokens_total 0',
    'serviceaccount_valid_tokens_total 0',
  ]);
  await close();
});

it('has all metrics from the first request on', async () => {
  const { send, close } = await makeFixture();
  const { text } = await send('GET', '/metrics');
  const wanted = [
    'apiserver_request_total',
    'apiserver_request_duration_seconds_bucket',
    'apiserver_current_inflight_requests',
    'apiserver_storage_objects',
    'apiserver_longrunning_requests',
    'apiserver_watch_events_total',
    'workqueue_depth',
    'process_cpu_seconds_total',
    'authentication_attempts',
    'apiserver_authorization_decisions_total',
    'apiserver_admission_controller_admission_duration_seconds_bucket',
    'apiserver_response_sizes_bucket',
  ];
  expect(wanted.filter((name) => !text.includes(name))).toEqual([]);
  await close();
});

it('shows the work queues of controllers and their lease', () => {
  const metrics = metricsOf({} as Registry);
  const running: number[] = [];
  let depth = 0;
  const queue = { name: 'job', depth: () => depth, runningSeconds: () => running };
  const first = metrics.queue(queue);
  const lease = { held: false, slowpath: 3 };
  metrics.lease('kube-controller-manager', () => lease);
  first.added();
  first.added();
  first.started(0.5);
  first.ended(2);
  first.retried();
  depth = 4;
  running.push(1.5, 3);
  lease.held = true;
  const lines = () =>
    Object.fromEntries(
      metrics.all
        .filter(({ declaration: { name } }) => /^(workqueue|leader_election)_/.test(name))
        .flatMap((metric) =>
          [...metric.lines({ usage: noUsage, storeBytes: undefined, storeWritable: true })].join('').trim().split('\n'),
        )
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  const job = '{name="job"}';
  expect(lines()).toMatchObject({
    [`workqueue_depth${job}`]: 4,
    [`workqueue_adds_total${job}`]: 2,
    'workqueue_queue_duration_seconds_bucket{name="job",le="1e-08"}': 0,
    'workqueue_queue_duration_seconds_bucket{name="job",le="0.1"}': 0,
    'workqueue_queue_duration_seconds_bucket{name="job",le="1"}': 1,
    [`workqueue_queue_duration_seconds_sum${job}`]: 0.5,
    'workqueue_work_duration_seconds_bucket{name="job",le="1"}': 0,
    'workqueue_work_duration_seconds_bucket{name="job",le="10"}': 1,
    [`workqueue_work_duration_seconds_count${job}`]: 1,
    [`workqueue_unfinished_work_seconds${job}`]: 4.5,
    [`workqueue_longest_running_processor_seconds${job}`]: 3,
    [`workqueue_retries_total${job}`]: 1,
    'leader_election_master_status{name="kube-controller-manager"}': 1,
    'leader_election_slowpath_total{name="kube-controller-manager"}': 3,
  });
  // The queue of the next term counts on.
  metrics.queue({ ...queue, depth: () => 1 }).added();
  expect(lines()).toMatchObject({ [`workqueue_depth${job}`]: 1, [`workqueue_adds_total${job}`]: 3 });
});

it('states the stability of each metric in its help', async () => {
  const { send, close } = await makeFixture();
  const { text } = await send('GET', '/metrics');
  const helps = text.match(/^# HELP .*/gm) ?? [];
  expect(helps).toContainEqual(expect.stringMatching(/^# HELP apiserver_request_total \[STABLE\] ./));
  expect(helps).toContainEqual(expect.stringMatching(/^# HELP kubernetes_feature_enabled \[BETA\] ./));
  expect(helps).toContainEqual(expect.stringMatching(/^# HELP workqueue_depth \[BETA\] ./));
  const unmarked = helps.filter((line) => !/ \[(ALPHA|BETA|STABLE)\] /.test(line)).map((line) => line.split(' ')[2]);
  expect(unmarked).toContain('process_cpu_seconds_total');
  expect(unmarked.filter((name = '') => !/^(process|nodejs)_/.test(name))).toEqual([
    'apiserver_flowcontrol_priority_level_seat_utilization',
    'apiserver_flowcontrol_priority_level_request_utilization',
    'apiserver_flowcontrol_demand_seats',
    'apiserver_flowcontrol_read_vs_write_current_requests',
  ]);
  await close();
});

it('counts the deletion of a collection by its method', async () => {
  const { send, close } = await makeFixture();
  await send('DELETE', configMaps);
  const { text } = await send('GET', '/metrics');
  const counted = text.match(/^apiserver_request_total.*resource="configmaps".*/gm) ?? [];
  expect(counted.map((line) => line.match(/(verb|scope)="\w+"/g))).toEqual([['verb="DELETE"', 'scope="namespace"']]);
  await close();
});

it('has no text of a client in the labels of unknown requests', async () => {
  const { send, close } = await makeFixture();
  const series = async () =>
    (await send('GET', '/metrics')).text.match(/^apiserver_request_total.*(?= )/gm)?.sort() ?? [];
  const made = async (i: number) => {
    const token = '';
    await send('GET', `${configMaps}/x/made-up-${i}`, { token });
    await send('PUT', `${configMaps}/x/made-up-${i}?dryRun=All`, { token });
    await send('GET', `/api/v1/pods/x/made-up-${i}/a/b`, { token });
    await send('GET', `/api/v9${i}/configmaps`, { token });
    for (const path of [configMaps, `${configMaps}/x/made-up-${i}`, `/${i}`, '/metrics']) {
      await send(`MADE-UP-${i}`, path, { token });
      await send('constructor', path, { token });
      await send('deletecollection', path, { token });
    }
    // Declared, each in its own place.
    await send('DELETE', '/api/v1/componentstatuses/x', { token });
    await send('PUT', `${configMaps}`, { token });
  };
  await made(0);
  await series();
  const before = await series();
  for (let i = 1; i < 50; i++) await made(i);
  expect(await series()).toEqual(before);
  const values = new Set(before.flatMap((one) => one.match(/(?:verb|subresource|version)="[^"]*"/g) ?? []));
  expect([...values].sort()).toEqual([
    'subresource=""',
    'subresource="/api"',
    'subresource="/metrics"',
    'verb="GET"',
    'verb="LIST"',
    'verb="POST"',
    'verb="PUT"',
    'verb="other"',
    'version=""',
    'version="v1"',
  ]);
  await close();
});

const limits = {
  readOnly: 1,
  mutating: 1,
  longRunning: 1,
  proxied: 1,
  receiving: 1,
  responses: 1,
  unread: 1,
  selectors: 1,
  compressed: 1,
};
const metricsOf = (registry: Registry) => createMetrics(() => registry, createInFlight(limits), realClock);

function seriesAt(metrics: Metrics, registry: Registry, method: string, url: string): RequestSeries {
  const info = identify(method, url);
  const { group = '', version = '', resource = '' } = info.resource ?? {};
  return metrics.series(info, registry.find(group, version, resource));
}

it('counts requests that go on to nodes under the verb of the reference', async () => {
  const { registry, close } = await makeFixture();
  const labels = (method: string, path: string) => seriesAt(metricsOf(registry), registry, method, path).labels;
  const pod = '/api/v1/namespaces/a/pods/x';
  const rest = (subresource: string) => `resource="pods",subresource="${subresource}",scope="resource"`;
  expect(labels('POST', `${pod}/exec`)).toContain(`verb="CONNECT",group="",version="v1",${rest('exec')}`);
  expect(labels('GET', `${pod}/status`)).toContain(`verb="GET",group="",version="v1",${rest('status')}`);
  expect(labels('PUT', `${pod}/exec`)).toContain('verb="other"');
  await close();
});

it('counts unregistered status codes by their class', async () => {
  const { registry, close } = await makeFixture();
  const metrics = metricsOf(registry);
  const series = metrics.series(identify('GET', '/x'), undefined);
  for (let code = 100; code < 1_000; code++) series.count(code, 0, 0, 0);
  let text = '';
  for await (const piece of metrics.text(new EveryStep())) text += piece;
  const counts = [...text.matchAll(/^apiserver_request_total\{.*code="(.*)"\} (.*)$/gm)];
  const codes = counts.map(([, code]) => code);
  const classes = codes.filter((code = '') => !(code in STATUS_CODES));
  expect(new Set(classes)).toEqual(new Set(['1xx', '2xx', '3xx', '4xx', '5xx', '6xx', '7xx', '8xx', '9xx']));
  expect(new Set(codes).size).toBe(codes.length);
  expect(counts.reduce((sum, [, , count]) => sum + Number(count), 0)).toBe(900);
  await close();
});

it('has no series for names that clients invent', async () => {
  const { send, close } = await makeFixture();
  const series = async () => (await send('GET', '/metrics')).text.match(/^apiserver_request_total/gm)?.length ?? 0;
  await send('GET', '/made-up-0');
  await send('GET', '/apis/example.com/v0/things');
  await send('BREW', '/coffee');
  await series();
  const before = await series();
  for (let i = 1; i < 50; i++) {
    await send('GET', `/made-up-${i}/${i}`);
    await send('GET', `/apis/example.com/v${i}/things`);
    await send(`BREW${i}`, '/coffee');
  }
  expect(await series()).toBe(before);
  await close();
});

/** Every path, method and parameter that leads to a series of its own. */
function* everyRequest({ resources }: Registry): Generator<readonly [method: string, url: string]> {
  for (const { definition } of resources) {
    for (const { version } of definition.versions) {
      const root = definition.group === '' ? `/api/${version}` : `/apis/${definition.group}/${version}`;
      for (const scope of [definition.plural, `namespaces/a/${definition.plural}`]) {
        const paths = ['', '?watch=1', '/x', ...definition.subresources.map(({ name }) => `/x/${name}`)];
        for (const path of paths) {
          for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OTHER']) {
            yield [method, `${root}/${scope}${path}`];
            yield [method, `${root}/${scope}${path}${path.includes('?') ? '&' : '?'}dryRun=All`];
          }
        }
      }
    }
  }
}

it('writes every possible series once, in chunks that are made in turns', async () => {
  const { registry, close } = await makeFixture();
  const metrics = metricsOf(registry);
  for (const [method, url] of everyRequest(registry)) {
    const series = seriesAt(metrics, registry, method, url);
    for (const code of [200, 201, 403, 404, 409, 422, 500]) series.count(code, 0.01, 0, 100);
  }
  const turns = new EveryStep();
  const pieces: string[] = [];
  for await (const piece of metrics.text(turns)) pieces.push(piece);
  // A turn before each metric, and before each further piece of a long one.
  expect(turns.count).toBeGreaterThanOrEqual(pieces.length - 1);
  expect(pieces.length).toBeGreaterThan(100);
  // A piece ends with the histogram that makes it long enough.
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(64 * 1024 + 16 * 1024);
  const samples = pieces.join('').match(/^[^#\n]*(?= )/gm) ?? [];
  expect(new Set(samples).size).toBe(samples.length);
  await close();
});

it('sums the events of all watches of a resource', async () => {
  const { registry, close } = await makeFixture();
  const metrics = metricsOf(registry);
  for (const url of ['/api/v1/pods?watch=1', '/api/v1/namespaces/a/pods?watch=1', '/api/v1/watch/pods?dryRun=All']) {
    const { watch } = seriesAt(metrics, registry, 'GET', url);
    if (watch === undefined) throw new Error('no watch');
    watch.countEvent(2_000);
    watch.countEvent(100);
  }
  let text = '';
  for await (const piece of metrics.text(new EveryStep())) text += piece;
  const lines = text.match(/^apiserver_watch_events_total\{.*$/gm);
  expect(lines).toEqual(['apiserver_watch_events_total{group="",version="v1",resource="pods"} 6']);
  await close();
});

it('counts the checks of policies, and those of too many policies together', async () => {
  const { registry, close } = await makeFixture();
  const metrics = metricsOf(registry);
  const check = { policy: 'p', binding: 'b', error: 'invalid_error', action: 'deny' } as const;
  metrics.mutationChecked({ policy: 'm', binding: 'b', error: 'no_error' }, 0.002);
  metrics.policyChecked(check, 0.002);
  metrics.policyChecked(check, 0);
  for (let i = 0; i < 5000; i++) metrics.policyChecked({ ...check, policy: `p${i}` }, 0);
  let text = '';
  for await (const piece of metrics.text(new EveryStep())) text += piece;
  const name = 'apiserver_validating_admission_policy_check';
  const labels = 'enforcement_action="deny",error_type="invalid_error"';
  expect(text).toContain(`${name}_total{${labels},policy="p",policy_binding="b"} 2`);
  expect(text).toContain(`${name}_duration_seconds_bucket{${labels},policy="p",policy_binding="b",le="0.001"} 1`);
  expect(text).toContain(`${name}_total{${labels},policy="other",policy_binding="other"} 1001`);
  expect(text).toContain(
    'apiserver_mutating_admission_policy_check_total{error_type="no_error",policy="m",policy_binding="b"} 1',
  );
  await close();
});

it('counts what is refused because of a limit, and shows the limits', async () => {
  const { send, close } = await makeFixture({ limits: { readOnly: 2, longRunning: 0 } });
  for (let i = 0; i < 2; i++) expect((await send('GET', `${configMaps}?watch=1`)).status).toBe(429);
  const { text } = await send('GET', '/metrics');
  expect(text).toContain('orch_limit_refusals_total{limit="longRunning"} 2\n');
  expect(text).toContain('orch_limit_refusals_total{limit="readOnly"} 0\n');
  expect(text).toContain('orch_limit{limit="longRunning"} 0\n');
  expect(text).toContain('orch_limit_used{limit="readOnly"} 1\n');
  expect(text.match(/^apiserver_request_terminations_total.*/gm)).toEqual([
    'apiserver_request_terminations_total{verb="WATCH",group="",version="v1",resource="configmaps",subresource="",scope="namespace",component="apiserver",code="429"} 2',
  ]);
  await close();
});

it('shows no limit where there is none', async () => {
  const { send, close } = await makeFixture({ limits: { readOnly: Number.POSITIVE_INFINITY } });
  const { text } = await send('GET', '/metrics');
  expect(text.match(/^orch_limit(_used)?\{limit="readOnly"\}.*/gm)).toEqual(['orch_limit_used{limit="readOnly"} 1']);
  await close();
});

it('counts requests that are given up, and no error of the API', async () => {
  const { send, handler, close } = await makeFixture();
  await send('GET', `${configMaps}/absent`);
  const late = {
    ...requestOf('POST', configMaps),
    coming: 10,
    body: () => Promise.reject(new StatusError(408, 'Timeout', 'late')),
  };
  expect((await handler(late)).status).toBe(408);
  const { text } = await send('GET', '/metrics');
  expect(text.match(/^apiserver_request_terminations_total.*/gm)).toEqual([
    expect.stringMatching(/verb="POST".*,code="408"\} 1$/),
  ]);
  await close();
});

it('shows watches that are under way by resource, with their events and the bytes of these', async () => {
  const { handler, send, close } = await makeFixture();
  const shown = async () =>
    (await send('GET', '/metrics')).text.match(/^apiserver_(longrunning_requests|watch_events_total)\{.*/gm);
  const { body } = await handler(requestOf('GET', `${configMaps}?watch=1`));
  const events = (body as AsyncIterable<string>)[Symbol.asyncIterator]();
  await send('POST', configMaps, { body: { metadata: { name: 'a' } } });
  const { value = '' } = await events.next();
  const labels = 'group="",version="v1",resource="configmaps"';
  const watches = `apiserver_longrunning_requests{verb="WATCH",${labels},subresource="",scope="namespace",component="apiserver"}`;
  expect(await shown()).toEqual([`${watches} 1`, `apiserver_watch_events_total{${labels}} 1`]);
  expect((await send('GET', '/metrics')).text).toContain(
    `apiserver_watch_events_sizes_sum{${labels}} ${(value as string).length}\n`,
  );
  await events.return?.();
  expect(await shown()).toEqual([`${watches} 0`, `apiserver_watch_events_total{${labels}} 1`]);
  await close();
});

it('shows deprecated APIs that were requested', async () => {
  const { send, close } = await makeFixture();
  await send('GET', '/api/v1/pods');
  await send('GET', '/api/v1/componentstatuses');
  const { text } = await send('GET', '/metrics');
  expect(text.match(/^apiserver_requested_deprecated_apis.*/gm)).toEqual([
    'apiserver_requested_deprecated_apis{group="",removed_release="",resource="componentstatuses",subresource="",version="v1"} 1',
  ]);
  await close();
});

it('has one series for each resource with objects', async () => {
  const { send, close } = await makeFixture();
  await send('GET', configMaps);
  const { text } = await send('GET', '/metrics');
  const line = (name: string) => text.match(new RegExp(`^${name}\\{group="",resource="configmaps"\\} (.*)`, 'm'))?.[1];
  expect(line('apiserver_watch_cache_initializations_total')).toBe('1');
  expect(line('apiserver_watch_cache_events_received_total')).toBe('0');
  expect(line('orch_watch_cache_subscribers')).toBe('0');
  expect(Number(line('apiserver_watch_cache_resource_version'))).toBeGreaterThan(0);
  await close();
});
