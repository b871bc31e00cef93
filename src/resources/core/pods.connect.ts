import { type FieldError, fieldError, statusError } from '../../meta/index.ts';
import type { ConnectCall, Connection } from '../../registry/index.ts';
import type { StructSchema } from '../../schema/index.ts';
import {
  Pod,
  PodAttachOptions,
  PodExecOptions,
  PodLogOptions,
  PodPortForwardOptions,
  type PodSpec,
} from '../../types/core-v1.ts';
import type { PodObject } from './pod-object.ts';
import { kubeletOf } from './proxy.ts';

const podOf = ({ objects, namespace, name }: ConnectCall): Promise<PodObject> => objects.read(Pod, namespace, name);

/** The container of a request: the named one, or the only one. @throws StatusError 400 */
function containerOf({ spec = {} }: PodObject, name: string, containerName = ''): string {
  const containers = namesOf(spec.containers);
  const all = [...namesOf(spec.initContainers), ...containers, ...namesOf(spec.ephemeralContainers)];
  if (containerName !== '') {
    if (all.includes(containerName)) return containerName;
    throw statusError.badRequest(`container ${containerName} is not valid for pod ${name}`);
  }
  const [only] = containers;
  if (only !== undefined && containers.length === 1) return only;
  const choice = only === undefined ? '' : `, choose one of: [${all.join(' ')}]`;
  throw statusError.badRequest(`a container name must be specified for pod ${name}${choice}`);
}

const namesOf = (containers: PodSpec['initContainers'] | PodSpec['ephemeralContainers'] = []): string[] =>
  containers.map(({ name = '' }) => name);

/** The query with the parameters in the order of their names. */
const queryOf = (parameters: [name: string, value: string][]): string => {
  const query = new URLSearchParams(parameters);
  query.sort();
  return query.size === 0 ? '' : `?${query.toString()}`;
};

const pathOf = (...parts: string[]): string => parts.map((part) => `/${encodeURIComponent(part)}`).join('');

/** The log of a container; empty before the pod has a node. */
export const podLog: Connection = {
  answers: 'text',
  options: PodLogOptions,
  async locate(call) {
    const { namespace, name } = call;
    const options = call.options as PodLogOptions;
    const errors = validateLogOptions(options);
    if (errors.length > 0) throw statusError.invalid({ group: '', kind: 'PodLogOptions' }, name, errors);
    const pod = await podOf(call);
    const container = containerOf(pod, name, options.container);
    const node = pod.spec?.nodeName ?? '';
    if (node === '') return undefined;
    const kubelet = await kubeletOf(call, node);
    const passed = logParameters.flatMap((parameter): [string, string][] => {
      const value = options[parameter];
      return value === undefined || value === null || value === false ? [] : [[parameter, String(value)]];
    });
    return {
      ...kubelet,
      path: pathOf('containerLogs', namespace, name, container) + queryOf(passed),
      peer: options.insecureSkipTLSVerifyBackend === true ? 'unverified kubelet' : 'kubelet',
    };
  },
};

const logParameters = [
  'follow',
  'previous',
  'timestamps',
  'sinceSeconds',
  'sinceTime',
  'tailLines',
  'limitBytes',
] as const;

function validateLogOptions({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: PodLogOptions): FieldError[] {
  const errors: FieldError[] = [];
  const atLeast = (least: number, name: string, value: number | bigint | null | undefined, why: string) => {
    if (value !== undefined && value !== null && value < least) errors.push(fieldError.invalid(name, value, why));
  };
  atLeast(0, 'tailLines', tailLines, 'must be greater than or equal to 0');
  atLeast(1, 'limitBytes', limitBytes, 'must be greater than 0');
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(fieldError.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else atLeast(1, 'sinceSeconds', sinceSeconds, 'must be greater than 0');
  if (stream !== undefined) errors.push(fieldError.forbidden('stream', 'may not be specified'));
  return errors;
}

/** A connection to the kubelet: its path on the kubelet and the query that is passed. */
function stream<O>(
  place: string,
  options: StructSchema,
  containerIn: (options: O, pod: PodObject, name: string) => string[],
  parameters: (options: O) => [string, string][],
): Connection {
  return {
    answers: 'upgrade',
    options,
    async locate(call) {
      const { namespace, name } = call;
      const requestOptions = call.options as O;
      const pod = await podOf(call);
      const container = containerIn(requestOptions, pod, name);
      const node = pod.spec?.nodeName ?? '';
      if (node === '') throw statusError.badRequest(`pod ${name} does not have a host assigned`);
      const kubelet = await kubeletOf(call, node);
      return { ...kubelet, path: pathOf(place, namespace, name, ...container) + queryOf(parameters(requestOptions)) };
    },
  };
}

const selectContainer = ({ container }: PodAttachOptions, pod: PodObject, name: string): string[] => [
  containerOf(pod, name, container),
];

/** The kubelet's query parameters of the streams. */
const streams = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
] as const;

const streamsOf = (options: PodAttachOptions): [string, string][] =>
  streams.flatMap(([name, passed]): [string, string][] => (options[name] === true ? [[passed, '1']] : []));

export const podAttach = stream<PodAttachOptions>('attach', PodAttachOptions, selectContainer, streamsOf);

export const podExec = stream<PodExecOptions>('exec', PodExecOptions, selectContainer, (options) => [
  ...streamsOf(options),
  ...(options.command ?? []).map((word): [string, string] => ['command', word]),
]);

export const podPortForward = stream<PodPortForwardOptions>(
  'portForward',
  PodPortForwardOptions,
  () => [],
  ({ ports }) => (ports === undefined || ports === null ? [] : [['port', ports.join(',')]]),
);
