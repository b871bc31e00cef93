/** The condition `Available` of APIServices, with the reasons and messages of the reference server. */
import { formatTime } from '../meta/index.ts';
import type { APIService, APIServiceCondition } from '../types/apiregistration-v1.ts';
import type { Service } from '../types/core-v1.ts';
import type { EndpointSlice } from '../types/discovery-v1.ts';
import { type RemoteService, readyAddresses } from './address.ts';

export type AvailableCondition = APIServiceCondition & { readonly type: 'Available' };

/** The result of a check: the condition without its time. */
export interface Finding {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const isAvailable = (condition: APIServiceCondition): condition is AvailableCondition => condition.type === 'Available';

/** The condition of an APIService; undefined before the first check. */
export const availableCondition = ({ status }: APIService): AvailableCondition | undefined =>
  status?.conditions?.find(isAvailable);

export const local: Finding = {
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
};

export const passed: Finding = { status: 'True', reason: 'Passed', message: 'all checks passed' };

export const failedCheck = (message: string): Finding => ({ status: 'False', reason: 'FailedDiscoveryCheck', message });

/** The problem of a Service and its slices; undefined if the extension API server can be called. */
export function serviceFinding(
  { namespace, name, port }: RemoteService,
  service: Service | undefined,
  slices: readonly EndpointSlice[],
): Finding | undefined {
  const where = `service/${name} in ${JSON.stringify(namespace)}`;
  const failed = (reason: string, message: string): Finding => ({ status: 'False', reason, message });
  if (service === undefined) return failed('ServiceNotFound', `${where} is not present`);
  const { type = 'ClusterIP', ports } = service.spec ?? {};
  if (type !== 'ClusterIP') return undefined;
  const found = ports?.find((one) => one.port === port);
  if (found === undefined) return failed('ServicePortError', `${where} is not listening on port ${port}`);
  if (slices.length === 0) return failed('EndpointsNotFound', `cannot find endpointslices for ${where}`);
  const portName = found.name ?? '';
  if (readyAddresses(slices, portName).length > 0) return undefined;
  const text = `endpointslices for ${where} have no addresses with port name ${JSON.stringify(portName)}`;
  return failed('MissingEndpoints', text);
}

/** The condition after a finding; undefined when it says so already. Its time changes with its status only. */
export function conditionAfter(
  before: AvailableCondition | undefined,
  { status, reason, message }: Finding,
  now: number,
): AvailableCondition | undefined {
  if (before?.status === status && before.reason === reason && before.message === message) return undefined;
  const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(now);
  return {
    type: 'Available',
    status,
    ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }),
    reason,
    message,
  };
}
