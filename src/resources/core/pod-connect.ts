import { type FieldError, fieldError, parseTime, statusError } from '../../meta/index.ts';
import type { Connect, ConnectCall, Endpoint } from '../../registry/index.ts';
import type { PodSpec } from '../types/core-v1.ts';
import { agentOf } from './connect.ts';
import type { PodObject } from './pod-object.ts';

const podOf = async ({ objects, namespace, name }: ConnectCall): Promise<PodObject> =>
  (await objects.get('pods', namespace, name)) as unknown as PodObject;

/** The container that a request means; with only one nobody need name it. @throws StatusError 400 */
function containerOf({ spec = {} }: PodObject, { name, query }: ConnectCall): string {
  const wanted = query.get('container') ?? '';
  const groups: readonly (readonly [title: string, names: readonly string[]])[] = [
    ['', namesOf(spec.containers)],
    [' or one of the init containers: ', namesOf(spec.initContainers)],
    [' or one of the ephemeral containers: ', namesOf(spec.ephemeralContainers)],
  ];
  if (wanted !== '') {
    if (groups.some(([, names]) => names.includes(wanted))) return wanted;
    throw statusError.badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  const [first, ...others] = spec.containers ?? [];
  if (first !== undefined && others.length === 0) return first.name ?? '';
  const choice = groups.flatMap(([title, names]) => (names.length === 0 ? [] : [`${title}[${names.join(' ')}]`]));
  const which = choice.length === 0 ? '' : `, choose one of: ${choice.join('')}`;
  throw statusError.badRequest(`a container name must be specified for pod ${name}${which}`);
}

const namesOf = (containers: PodSpec['initContainers'] | PodSpec['ephemeralContainers'] = []): string[] =>
  containers.map(({ name = '' }) => name);

const flag = (query: ConnectCall['query'], name: string): boolean => {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
};

/** The log of a container; nothing before the pod has a node. */
export const podLog: Connect = async (call) => {
  const { namespace, name, query } = call;
  const errors = validateLogOptions(query);
  if (errors.length > 0) throw statusError.invalid({ group: '', kind: 'PodLogOptions' }, name, errors);
  const pod = await podOf(call);
  const container = containerOf(pod, call);
  const node = pod.spec?.nodeName ?? '';
  if (node === '') return undefined;
  const agent = await agentOf(call, node);
  const passed = new URLSearchParams();
  for (const option of ['follow', 'previous', 'timestamps']) if (flag(query, option)) passed.set(option, 'true');
  for (const option of ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes']) {
    const value = query.get(option) ?? '';
    if (value !== '') passed.set(option, value);
  }
  return { ...agent, path: pathOf('containerLogs', namespace, name, container), query: passed.toString() };
};

const pathOf = (...parts: string[]): string => parts.map((part) => `/${encodeURIComponent(part)}`).join('');

function validateLogOptions(query: ConnectCall['query']): FieldError[] {
  const found: FieldError[] = [];
  const integer = (name: string, least: number, why: string) => {
    const text = query.get(name) ?? '';
    if (text === '') return;
    if (!/^[+-]?\d{1,18}$/.test(text)) {
      throw statusError.badRequest(`${name}: ${JSON.stringify(text)} is not a whole number of 64 bits`);
    }
    if (Number(text) < least) found.push(fieldError.invalid(name, Number(text), why));
  };
  integer('tailLines', 0, 'must be greater than or equal to 0');
  integer('limitBytes', 1, 'must be greater than 0');
  const since = query.get('sinceTime') ?? '';
  if (since !== '') parseTime(since);
  if (since !== '' && (query.get('sinceSeconds') ?? '') !== '') {
    found.push(fieldError.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else integer('sinceSeconds', 1, 'must be greater than 0');
  return found;
}

/** Streams to and from a pod: what its node's agent is asked for, and the query that it is asked with. */
function stream(
  place: string,
  queryOf: (query: ConnectCall['query']) => [string, string][],
  choosesContainer: boolean,
): Connect {
  return async (call): Promise<Endpoint> => {
    const { namespace, name, query } = call;
    const pod = await podOf(call);
    const container = choosesContainer ? [containerOf(pod, call)] : [];
    const node = pod.spec?.nodeName ?? '';
    if (node === '') throw statusError.badRequest(`pod ${name} does not have a host assigned`);
    const agent = await agentOf(call, node);
    const passed = new URLSearchParams(queryOf(query));
    return { ...agent, path: pathOf(place, namespace, name, ...container), query: passed.toString(), upgrades: true };
  };
}

const agentFlags = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
] as const;

const flagsOf = (query: ConnectCall['query']): [string, string][] =>
  agentFlags.flatMap(([name, passed]) => (flag(query, name) ? [[passed, '1']] : []));

export const podExec = stream(
  'exec',
  (query) => [...flagsOf(query), ...query.getAll('command').map((word): [string, string] => ['command', word])],
  true,
);
export const podAttach = stream('attach', flagsOf, true);
export const podPortForward = stream(
  'portForward',
  (query) => query.getAll('ports').map((port) => ['port', port]),
  false,
);
