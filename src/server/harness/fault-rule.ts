import type { RequestInfo } from '../../http/index.ts';
import { formatGroupResource, StatusError, statusError } from '../../meta/index.ts';
import { didYouMean } from '../settings/suggest.ts';
import { readDuration } from './duration.ts';

/** A verb of the API. */
export type FaultVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';
const verbs: readonly FaultVerb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];

/** The status codes of faults. */
export type FaultStatus = 403 | 404 | 409 | 410 | 429 | 500 | 503 | 504;

/** A fault that replaces the response to a request. */
export type Fault =
  /** The connection fails before the request is served. */
  | 'refuse'
  /** The request is served and its write committed, but the connection is lost before the response. */
  | 'drop-after-write'
  /** The request is served later, by the clock of the server: milliseconds, or a text such as `2s`. */
  | { readonly delay: number | string }
  /** The response is this error; the request is not served. */
  | { readonly status: FaultStatus; readonly message?: string; readonly retryAfterSeconds?: number };

/** Selects the requests that meet a fault; an absent field matches all. */
export interface FaultRule {
  readonly verb?: FaultVerb | readonly FaultVerb[];
  /** The plural name, optionally with group and subresource: `pods`, `deployments.apps/status`. */
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The user of the request, as named in `server.as` or in the client certificate. */
  readonly user?: string;
  /** Number of requests that meet the fault. Default: all, until it is removed. */
  readonly times?: number;
  readonly fault: Fault;
}

/** A request as rules see it. */
export interface FaultRequest {
  readonly info: RequestInfo;
  /** Undefined without a client certificate. */
  readonly user: string | undefined;
}

/** A validated rule. */
export interface CheckedRule {
  readonly times: number;
  matches(request: FaultRequest): boolean;
  /** The fault. */
  readonly fault:
    | 'refuse'
    | 'drop-after-write'
    | { readonly delayMs: number }
    | ((request: FaultRequest) => StatusError);
}

type Answer = (of: { group: string; resource: string }, name: string, message: string, seconds: number) => StatusError;

/** The errors of a server by status code. */
const answers: { readonly [status in FaultStatus]: Answer } = {
  403: (of, name, message) => statusError.forbidden(of, name, message || 'a fault'),
  404: (of, name) => statusError.notFound(of, name),
  409: (of, name, message) =>
    message === '' ? statusError.modified(of, name) : statusError.conflict(of, name, message),
  410: (_, __, message) => statusError.expired(message || 'The resourceVersion for the provided list is too old.'),
  429: (_, __, message, seconds) =>
    statusError.tooManyRequests(message || 'Too many requests, please try again later.', seconds),
  500: (_, __, message) => statusError.internal(message || 'a fault'),
  503: (_, __, message, seconds) =>
    new StatusError(503, 'ServiceUnavailable', message || 'the server is currently unable to handle the request', {
      retryAfterSeconds: seconds,
    }),
  504: (_, __, message, seconds) => statusError.timeout(message || 'the request timed out', seconds),
};

const ruleKeys = ['verb', 'resource', 'namespace', 'name', 'user', 'times', 'fault'];
const faultForms = "'refuse', 'drop-after-write', { delay: '2s' } or { status: 409 }";

/** Validates a rule. @throws Error that names the invalid field */
export function checkRule(rule: FaultRule): CheckedRule {
  const problem = problemOf(rule);
  if (problem !== undefined) throw new Error(`a fault cannot be added: ${problem}`);
  const { verb, resource, namespace, name, user, times = Number.POSITIVE_INFINITY } = rule;
  const verbSet = verb === undefined ? undefined : new Set<string>([verb].flat());
  const isResource = resource === undefined ? undefined : resourceMatcher(resource);
  return {
    times,
    fault: faultOf(rule.fault),
    matches({ info, user: sender }) {
      if (verbSet?.has(info.verb) === false || (user !== undefined && user !== sender)) return false;
      const path = info.resource;
      // Discovery, health and the like.
      if (path === undefined) return [resource, namespace, name].every((part) => part === undefined);
      return (
        isResource?.(path) !== false &&
        (namespace === undefined || namespace === path.namespace) &&
        (name === undefined || name === path.name)
      );
    },
  };
}

function problemOf({ verb, times, fault, ...rest }: FaultRule): string | undefined {
  for (const key of Object.keys(rest)) {
    if (!ruleKeys.includes(key)) return `${key} is an unknown part${didYouMean(key, ruleKeys)}`;
  }
  for (const one of verb === undefined ? [] : [verb].flat()) {
    if (!verbs.includes(one)) return `verb ${JSON.stringify(one)} is none of ${verbs.join(', ')}`;
  }
  if (times !== undefined && !(Number.isInteger(times) && times > 0)) return `times must be a whole number above 0`;
  if (fault === 'refuse' || fault === 'drop-after-write') return undefined;
  if (typeof fault !== 'object' || fault === null) return `fault must be ${faultForms}`;
  const allowedKeys = 'delay' in fault ? ['delay'] : ['status', 'message', 'retryAfterSeconds'];
  const unknown = Object.keys(fault).find((key) => !allowedKeys.includes(key));
  if (unknown !== undefined) return `fault.${unknown} is an unknown part${didYouMean(unknown, allowedKeys)}`;
  if ('delay' in fault) return undefined;
  if (Object.hasOwn(answers, fault.status)) return undefined;
  return `fault must be ${faultForms}, with a status of ${Object.keys(answers).join(', ')}`;
}

function resourceMatcher(text: string): (path: NonNullable<RequestInfo['resource']>) => boolean {
  const [resource = '', subresource = ''] = text.split('/');
  return (path) =>
    subresource === path.subresource && (resource === path.resource || resource === formatGroupResource(path));
}

function faultOf(fault: Fault): CheckedRule['fault'] {
  if (typeof fault === 'string') return fault;
  if ('delay' in fault) return { delayMs: readDuration('delay', fault.delay) };
  const { status, message = '', retryAfterSeconds = 1 } = fault;
  const make = answers[status];
  return ({ info }) => {
    const { group = '', resource = '', name = '' } = info.resource ?? {};
    return make({ group, resource }, name, message, retryAfterSeconds);
  };
}
