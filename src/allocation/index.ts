/** Addresses and node ports of services: who has which, taken in the commit of the service, and set right. */
export { type AllocationOptions, createClaims } from './claims.ts';
export { formatPortRange, type PortRange } from './port-pool.ts';
export { repair } from './repair.ts';
