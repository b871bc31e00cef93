/** Extension API servers: the group versions that APIServices register, their availability, and their documents. */

export { type Address, clusterAddress, endpointAddress, type RemoteService, serviceHost } from './address.ts';
export {
  Aggregator,
  type AggregatorOptions,
  type Answer,
  type Ask,
  type Outages,
  type Question,
} from './aggregator.ts';
export type { AvailableCondition } from './availability.ts';
export { definitionsPrefix, renamedRefs } from './openapi.ts';
export {
  nothingRegistered,
  type OpenApiV2,
  type Priorities,
  type Registration,
  Registrations,
  type RemoteServer,
} from './registrations.ts';
