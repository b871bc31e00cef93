import { type FieldError, fieldError, httpHeaderName, portName, portNumber } from '../../meta/index.ts';
import type { Infer } from '../../schema/index.ts';
import {
  type ExecAction,
  type HTTPGetAction,
  type Lifecycle,
  type Probe,
  type SleepAction,
  signals,
  type TCPSocketAction,
} from '../../types/core-v1.ts';
import { byRule } from '../shared/field-rules.ts';

/** The action of a probe or lifecycle hook: exactly one of these. */
interface Handler {
  exec?: Infer<typeof ExecAction>;
  httpGet?: Infer<typeof HTTPGetAction>;
  tcpSocket?: Infer<typeof TCPSocketAction>;
  grpc?: object;
  sleep?: Infer<typeof SleepAction>;
}

/** Validates a port number or name. */
function validatePort(port: number | string | undefined, path: string): FieldError[] {
  if (typeof port === 'string') return byRule(path, port, portName);
  return portNumber(port ?? 0).map((why) => fieldError.invalid(path, port ?? 0, why));
}

function validateHttpGet({ path = '', port, httpHeaders }: Infer<typeof HTTPGetAction>, at: string): FieldError[] {
  return [
    ...(path === '' ? [fieldError.required(`${at}.path`)] : []),
    ...validatePort(port, `${at}.port`),
    ...(httpHeaders ?? []).flatMap(({ name = '' }) => byRule(`${at}.httpHeaders`, name, httpHeaderName)),
  ];
}

function validateSleep(
  { seconds = 0 }: Infer<typeof SleepAction>,
  grace: number | undefined,
  path: string,
): FieldError[] {
  if (grace === undefined || (seconds >= 0 && seconds <= grace)) return [];
  const why = `must be non-negative and less than terminationGracePeriodSeconds (${grace})`;
  return [fieldError.invalid(path, seconds, why)];
}

function validateHandler(handler: Handler, grace: number | undefined, path: string): FieldError[] {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  const rules: readonly (readonly [name: string, action: object | undefined, rule: (at: string) => FieldError[]])[] = [
    ['exec', exec, (at) => ((exec?.command ?? []).length === 0 ? [fieldError.required(`${at}.command`)] : [])],
    ['httpGet', httpGet, (at) => validateHttpGet(httpGet ?? {}, at)],
    ['tcpSocket', tcpSocket, (at) => validatePort(tcpSocket?.port, `${at}.port`)],
    ['grpc', grpc, () => []],
    ['sleep', sleep, (at) => validateSleep(sleep ?? {}, grace, at)],
  ];
  const actions = rules.filter(([, action]) => action !== undefined);
  if (actions.length === 0) return [fieldError.required(path, 'must specify a handler type')];
  return actions.flatMap(([name, , rule], i) =>
    i === 0
      ? rule(`${path}.${name}`)
      : [fieldError.forbiddenSubtree(`${path}.${name}`, 'may not specify more than 1 handler type')],
  );
}

export type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe';

/** Validates a probe; `grace` is `terminationGracePeriodSeconds` of the pod. */
export function validateProbe(
  probe: Probe | undefined,
  kind: ProbeKind,
  grace: number | undefined,
  at: string,
): FieldError[] {
  if (probe === undefined) return [];
  const path = `${at}.${kind}`;
  const errors = validateHandler(probe, grace, path);
  const { terminationGracePeriodSeconds: own, successThreshold = 0 } = probe;
  if (own !== undefined && own <= 0) {
    errors.push(fieldError.invalid(`${path}.terminationGracePeriodSeconds`, own, 'must be greater than 0'));
  }
  if (kind === 'readinessProbe') {
    const why = 'must not be set for readinessProbes';
    if (own !== undefined) errors.push(fieldError.invalid(`${path}.terminationGracePeriodSeconds`, own, why));
  } else if (successThreshold !== 1) {
    errors.push(fieldError.invalid(`${path}.successThreshold`, successThreshold, 'must be 1'));
  }
  return errors;
}

/** Validates the `postStart` and `preStop` hooks of a container. */
export function validateLifecycle(
  lifecycle: Infer<typeof Lifecycle> | undefined,
  grace: number | undefined,
  os: string | undefined,
  path: string,
): FieldError[] {
  const { postStart, preStop, stopSignal } = lifecycle ?? {};
  return [
    ...(postStart === undefined ? [] : validateHandler(postStart, grace, `${path}.postStart`)),
    ...(preStop === undefined ? [] : validateHandler(preStop, grace, `${path}.preStop`)),
    ...(stopSignal === undefined ? [] : validateStopSignal(stopSignal, os, `${path}.stopSignal`)),
  ];
}

const windowsSignals = ['SIGKILL', 'SIGTERM'];
const linuxSignals = [...signals].sort();

function validateStopSignal(signal: string, os: string | undefined, path: string): FieldError[] {
  if (os === undefined) {
    return [fieldError.forbidden(path, 'may not be set for containers with empty `spec.os.name`')];
  }
  const supportedSignals = os === 'windows' ? windowsSignals : linuxSignals;
  return supportedSignals.includes(signal) ? [] : [fieldError.notSupported(path, signal, supportedSignals)];
}
