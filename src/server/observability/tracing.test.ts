import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Hook, startHook } from '../../../test/support/hook.ts';
import { createClient, inProcessTransport } from '../../client/index.ts';
import { startTraceCollector, type TraceCollector } from '../../tracing/testing/trace-collector.ts';
import { createServer, type OrchServer } from '../server.ts';
import type { ServerOptions } from '../settings/server-options.ts';

// Spans as a collector receives them over HTTP.
const folder = mkdtempSync(join(tmpdir(), 'orch-tracing-'));
const path = join(folder, 'tracing.yaml');
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  rmSync(path, { force: true });
});

const configure = (...lines: readonly string[]) =>
  writeFileSync(path, ['kind: TracingConfiguration', ...lines].join('\n'));
const beta = 'apiVersion: apiserver.config.k8s.io/v1beta1';

async function start(rate: number, options: ServerOptions = {}) {
  const collector = await startTraceCollector();
  open.push({ close: () => collector.stop() });
  configure(beta, `endpoint: ${collector.endpoint}`, `samplingRatePerMillion: ${rate}`);
  const settings = {
    controllers: '-*',
    apiDomain: 'k8s.io',
    authorizationMode: 'AlwaysAllow',
    tracingConfigFile: path,
  };
  const server = await createServer({ ...settings, ...options });
  open.push(server);
  return { server, collector };
}

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${parentId}-01`;
const configMaps = '/api/v1/namespaces/default/configmaps';

/** Sends a request as a user, and returns its spans by name once the server has ended. */
async function traced(
  { server, collector }: { server: OrchServer; collector: TraceCollector },
  { method = 'GET', url = `${configMaps}?limit=1`, organizations = ['system:masters'], headers = {}, body = '' } = {},
) {
  const transport = inProcessTransport(server.handler, { subject: { commonName: 'jane', organizations } });
  const client = createClient({ transport });
  const sent = { 'user-agent': 'agent/1', 'audit-id': 'the-request', 'content-type': 'application/json', ...headers };
  const response = await client.request({
    method,
    url,
    headers: sent,
    ...(body === '' ? {} : { body: Buffer.from(body) as never }),
  });
  for await (const _ of response.body);
  await server.close();
  const root = collector.spans.find(({ attributes }) => attributes['audit-id'] === 'the-request');
  const own = collector.spans.filter((span) => span.traceId === root?.traceId);
  const parentOf = (name: string) => {
    const span = own.find((one) => one.name === name);
    return own.find(({ spanId }) => spanId === span?.parentSpanId)?.name;
  };
  return {
    status: response.status,
    root,
    own,
    parentOf,
    named: (name: string) => own.find((one) => one.name === name),
  };
}

describe('a traced request', () => {
  it('has spans for the request, its stages and its verb, with times within each other', async () => {
    const running = await start(1_000_000);
    const { status, root, own, parentOf, named } = await traced(running, {
      method: 'POST',
      url: `${configMaps}?fieldManager=secret-query`,
      body: '{"metadata":{"name":"a"},"data":{"key":"secret-data"}}',
    });
    expect(status).toBe(201);
    expect(root).toMatchObject({
      name: 'POST /api/v1/namespaces/{:namespace}/configmaps',
      kind: 2,
      parentSpanId: '',
      attributes: {
        'http.request.method': 'POST',
        'http.target': configMaps,
        'http.response.status_code': '201',
        'user_agent.original': 'agent/1',
        'audit-id': 'the-request',
      },
    });
    for (const name of ['authentication', 'authorization', 'Create']) expect(parentOf(name)).toBe(root?.name);
    for (const name of ['body', 'mutatingAdmission', 'validatingAdmission', 'store', 'SerializeObject', 'response']) {
      expect(parentOf(name)).toBe('Create');
    }
    expect(named('Create')?.events).toEqual(['About to store object in database', 'Write to database call succeeded']);
    for (const span of own) {
      expect(span.end).toBeGreaterThanOrEqual(span.start);
      expect(span.start).toBeGreaterThanOrEqual(root?.start as bigint);
      expect(span.end).toBeLessThanOrEqual(root?.end as bigint);
    }
    expect(named('store')?.start).toBe(named('validatingAdmission')?.end);
    const all = JSON.stringify(running.collector.spans, (_, value: unknown) =>
      typeof value === 'bigint' ? '' : value,
    );
    expect(all).not.toMatch(/secret/);
    expect(running.collector.resources[0]).toEqual({
      'service.name': 'apiserver',
      'service.instance.id': expect.stringMatching(/.+/) as string,
    });
  });

  it('passes the trace on to webhooks', async () => {
    const { server, collector } = await start(0);
    const hook: Hook = await startHook(({ review }) => ({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: (review as { request: { uid: string } }).request.uid, allowed: true },
    }));
    open.push(hook);
    await server.client.create(
      { apiVersion: 'admissionregistration.k8s.io/v1', resource: 'validatingwebhookconfigurations' },
      {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingWebhookConfiguration',
        metadata: { name: 'c' },
        webhooks: [
          {
            name: 'w.example.org',
            clientConfig: { url: `${hook.url}/x`, caBundle: hook.caBundle },
            rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      },
    );
    const body = '{"metadata":{"name":"a"}}';
    const { status, named, parentOf } = await traced(
      { server, collector },
      { method: 'POST', url: configMaps, body, headers: { traceparent } },
    );
    expect(status).toBe(201);
    const call = named('Call validating webhook');
    expect(call).toMatchObject({
      traceId,
      kind: 3,
      attributes: {
        configuration: 'c',
        webhook: 'w.example.org',
        resource: '/v1, Resource=configmaps',
        operation: 'CREATE',
      },
    });
    expect(parentOf('Call validating webhook')).toBe('validatingAdmission');
    expect(hook.calls.map((one) => one.traceparent)).toEqual([`00-${traceId}-${call?.spanId}-01`]);
  });
});

describe('sampling', () => {
  it('follows the trace of a privileged client whatever the rate is', async () => {
    const { root } = await traced(await start(0), { headers: { traceparent } });
    expect(root).toMatchObject({ traceId, parentSpanId: parentId, links: [] });
    const monitoring = { organizations: ['system:monitoring'], headers: { traceparent } };
    expect((await traced(await start(0), monitoring)).root).toMatchObject({ traceId });
  });

  it('does not sample a request whose privileged client has not', async () => {
    const headers = { traceparent: traceparent.replace(/01$/, '00') };
    expect((await traced(await start(1_000_000), { headers })).root).toBeUndefined();
  });

  it('begins a trace that links to that of any other client, by its own rate', async () => {
    const asJane = { organizations: ['people'], headers: { traceparent } };
    expect((await traced(await start(0), asJane)).root).toBeUndefined();
    const { root } = await traced(await start(1_000_000), asJane);
    expect(root).toMatchObject({ parentSpanId: '', links: [`${traceId}-${parentId}`] });
    expect(root?.traceId).not.toBe(traceId);
  });

  it('takes an invalid header for none', async () => {
    for (const headers of [
      { traceparent: 'x' },
      { traceparent: `${traceparent}, ${traceparent}` },
      { traceparent: traceparent.replace(traceId, '0'.repeat(32)) },
      { traceparent: `ff${traceparent.slice(2)}` },
      { traceparent: traceparent.toUpperCase() },
    ]) {
      expect((await traced(await start(0), { headers })).root).toBeUndefined();
    }
  });
});

describe('the file of a tracing configuration', () => {
  const problemOf = (options: ServerOptions = {}) =>
    createServer({ apiDomain: 'k8s.io', tracingConfigFile: path, ...options }).then(
      (server) => server.close(),
      (error: Error) => error.message,
    );

  it('may be of any of its versions, and leave out everything', async () => {
    for (const version of ['v1alpha1', 'v1beta1', 'v1']) {
      configure(`apiVersion: apiserver.config.k8s.io/${version}`);
      expect(await problemOf()).toBeUndefined();
    }
  });

  it('is refused with its name and the field', async () => {
    const where = `--tracing-config-file=${JSON.stringify(path)}`;
    configure(beta, 'samplingRatePerMillion: 1000001', 'endpoint: unix:/run/collector.sock');
    expect(await problemOf()).toBe(
      `${where}: endpoint: Invalid value: "unix:/run/collector.sock": must be the OTLP/HTTP endpoint of a collector: host:port, or a URL with http or https and without user, query and fragment; samplingRatePerMillion: Invalid value: 1000001: must be from 0 to 1000000`,
    );
    configure(beta, 'endpoint: https://user:password@collector');
    expect(await problemOf()).toMatch(/endpoint: Invalid value: must be the OTLP.HTTP endpoint/);
    configure(beta, 'samplingRatePerMilion: 1');
    expect(await problemOf()).toContain(`${where}: unknown field "samplingRatePerMilion"`);
    configure('apiVersion: apiserver.config.k8s.io/v2');
    expect(await problemOf()).toContain('must be one of TracingConfiguration of apiserver.config.k8s.io/v1');
    configure(beta);
    expect(await problemOf({ featureGates: { APIServerTracing: false } })).toContain('APIServerTracing=true');
    expect(await problemOf({ tracingConfigFile: join(folder, 'none') })).toContain('tracing-config-file');
  });
});
