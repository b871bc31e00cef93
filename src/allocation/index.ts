/** Cluster IPs and node ports of services: allocators that write in the commit of the service, and the repair loop. */
export { managedBy } from './address-objects.ts';
export { type AllocationOptions, createAllocations } from './allocations.ts';
export { formatPortRange, type PortRange } from './node-port-allocator.ts';
export { blockPrefix, storedPorts } from './port-blocks.ts';
export { repair } from './repair.ts';
