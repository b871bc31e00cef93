/** Addresses and node ports of services: who has which, taken in the commit of the service, and set right. */
export { type AllocationOptions, createAllocations } from './allocations.ts';
export { formatPortRange, type PortRange } from './node-port-allocator.ts';
export { repair } from './repair.ts';
