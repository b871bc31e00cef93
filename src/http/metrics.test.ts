import { expect, it } from 'vitest';
import { makeFixture } from './testing/fixture.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

it('counts requests by kind and code under the names of the field', async () => {
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
    `apiserver_request_total{verb="POST",${labels},scope="namespace",component="apiserver",dry_run="All",code="201"} 1`,
  );
  expect(text).toMatch(
    /apiserver_request_duration_seconds_bucket\{verb="GET",[^}]*resource="configmaps"[^}]*le="\+Inf"\} 2/,
  );
  // The request for the metrics is under way itself.
  expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1');
  expect(text).toContain('authentication_attempts{result="success"}');
  await close();
});

it('has every metric that dashboards look for, from the first request on', async () => {
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

it('makes no series for what clients make up', async () => {
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
