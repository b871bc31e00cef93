import { nothingRegistered } from '../../aggregation/index.ts';
import type { OpenIdDocument } from '../../auth/index.ts';
import type { FlowControl } from '../../fairness/index.ts';
import { type Clock, encodeText, type JsonObject, type Names, statusError } from '../../meta/index.ts';
import type { Registry } from '../../registry/index.ts';
import type { Describe } from '../../schema/index.ts';
import { pageNotFound, prettyAnswer, textAnswer } from '../answers.ts';
import type { Aggregation, Call, NonResourceHandler } from '../call.ts';
import { createCodecs } from '../codecs/codecs.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { FindType } from '../openapi/built-in-types.ts';
import { withDeprecations } from '../openapi/deprecations.ts';
import { createOpenApi } from '../openapi/openapi.ts';
import type { ApiResponse } from '../types.ts';
import { builtInGroups, createApiGroups, type Group, remembered, rootOf } from './api-groups.ts';
import type { Console } from './console.ts';
import { type RunningFlags, serveRunningFlags } from './debug-flags.ts';
import { createDiscovery } from './discovery.ts';
import { serveFairnessDump } from './fairness-dumps.ts';
import type { Health } from './health.ts';
import type { Profiler } from './profiling.ts';

/** The metrics of the whole server. */
export type ServerMetrics = Pick<Metrics, 'text' | 'discoveryAggregated'> & {
  readonly reset: () => void | Promise<void>;
};

export interface NonResourceOptions {
  readonly registry: Registry;
  readonly names: Names;
  readonly clock: Clock;
  readonly health: Health;
  readonly metrics: ServerMetrics;
  /** Absent: this server serves all group versions itself. */
  readonly aggregation?: Aggregation | undefined;
  /** Absent: nothing is served below `/debug/pprof`. */
  readonly profiler?: Profiler | undefined;
  /** Absent: nothing is served below `/debug/flags`. */
  readonly flags?: RunningFlags | undefined;
  /** Absent: nothing is served below `/debug/api_priority_and_fairness`. */
  readonly flowControl?: FlowControl | undefined;
  /** Absent: nothing is served below `/console`. */
  readonly console?: Console | undefined;
  /** The body of `/version`. */
  readonly version: JsonObject;
  /** `host:port` under which clients reach the server, for `/api`. */
  readonly serverAddress: () => string;
  /** Documents about the issuer of service account tokens, by path. */
  readonly openId?: ReadonlyMap<string, OpenIdDocument>;
  readonly findType: FindType;
  readonly describe: Describe;
}

/** Discovery, OpenAPI, health, metrics, profiles, version, and the index of their paths. */
export function createNonResourceHandler(options: NonResourceOptions): NonResourceHandler {
  const { registry, names, health, metrics, profiler, flags, flowControl } = options;
  const { openId = new Map<string, OpenIdDocument>() } = options;
  const registrations = options.aggregation?.registrations ?? nothingRegistered;
  const groups = createApiGroups(registry, registrations, options.clock);
  const { CBORServingAndStorage: cbor, OpenAPIEnums: enums, StorageVersionHash: hashes } = registry.features;
  const { documents: codecs } = createCodecs(options);
  const { discoveryAggregated } = metrics;
  const discovery = createDiscovery(groups, names, codecs, options.serverAddress, hashes, discoveryAggregated);
  const openApi = createOpenApi({
    groups,
    names,
    version: options.version,
    findType: options.findType,
    describe: withDeprecations(options.describe, registry),
    relay: options.aggregation?.answer,
    enums,
    cbor,
  });
  const isBuiltIn = builtInGroups(registry);
  const version = prettyAnswer(200, options.version);
  const fixed = [...health.paths, '/metrics', '/metrics/slis', ...openId.keys(), '/version'];
  const indexes = new WeakMap<readonly Group[], ApiResponse>();
  const indexAnswer = (): ApiResponse => {
    const of = groups();
    const make = () => ['/apis', ...of.flatMap(pathsOfGroup), ...openApi.paths(), ...fixed].sort();
    return remembered(indexes, of, () => prettyAnswer(200, { paths: make() }));
  };
  const serve = (call: Call) => {
    const { request, info } = call;
    const { path } = info;
    if (path === '/version' || path === '/version/') {
      if (request.method !== 'GET') throw statusError.methodNotAllowed();
      return version;
    }
    if (path === '/' || path === '' || path === '/index.html') return indexAnswer();
    if (path === '/metrics' && request.method === 'DELETE') return resetMetrics(metrics);
    if (path === '/metrics') {
      return { status: 200, headers: metricsHeaders, body: metrics.text(call.turns) };
    }
    if (path === '/metrics/slis') {
      return outcomesOf(health);
    }
    return (
      health.serve(path, info.query) ??
      discovery.serve(path, call) ??
      openApi.serve(path, call) ??
      profiler?.serve(path, info.query, request.signal) ??
      options.console?.serve(call) ??
      (flags && serveRunningFlags(flags, call)) ??
      (flowControl && serveFairnessDump(flowControl, call)) ??
      pageNotFound
    );
  };
  return (call) => {
    const document = openId.get(call.info.path);
    if (document !== undefined) return serveOpenId(call, document);
    const answer = serve(call);
    if (answer === pageNotFound && belowKnownGroup(call.info.path, isBuiltIn)) throw statusError.noSuchResource();
    return answer;
  };
}

/** The keys of an issuer change rarely: clients may keep them for an hour. */
async function serveOpenId({ request }: Call, { contentType, read }: OpenIdDocument): Promise<ApiResponse> {
  if (request.method !== 'GET') throw statusError.methodNotAllowed();
  const headers = { 'content-type': contentType, 'cache-control': 'public, max-age=3600' };
  return { status: 200, headers, body: encodeText(JSON.stringify(await read())) };
}

/** Whether a built-in group is served at a prefix of the path: a missing path below it is a Status, any other is plain text. */
function belowKnownGroup(path: string, isBuiltIn: (group: string) => boolean): boolean {
  const [, root, group] = path.split('/', 3);
  if (root === 'api') return isBuiltIn('');
  return root === 'apis' && group !== undefined && isBuiltIn(group);
}

const pathsOfGroup = (group: Group): string[] => [
  group.name === '' ? '/api' : `/apis/${group.name}`,
  ...group.versions.map(rootOf),
];

async function resetMetrics(metrics: ServerMetrics): Promise<ApiResponse> {
  await metrics.reset();
  return metricsReset;
}

const outcomesOf = async (health: Health): Promise<ApiResponse> => ({
  status: 200,
  headers: metricsHeaders,
  body: encodeText(await health.outcomes()),
});

const metricsReset = textAnswer(200, 'metrics reset\n');
const metricsHeaders = {
  'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
  'cache-control': 'no-cache, private',
};
