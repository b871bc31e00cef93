/** What is known of resources by their names. */
import type { Names } from '../../meta/index.ts';

const HUGE_PAGES = 'hugepages-';

/** Resources that a container may ask for by a bare name. */
const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Bare names with a meaning anywhere. */
const standardResources = new Set([
  ...containerResources,
  'storage',
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
]);

/** Resources that are counted, not measured. */
const integerResources = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

export const podLevelResources = ['cpu', 'hugepages-', 'memory'];

export const isHugePages = (name: string): boolean => name.startsWith(HUGE_PAGES);

export const isStandard = (name: string): boolean =>
  standardResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');

export const isForContainers = (name: string): boolean => containerResources.has(name) || isHugePages(name);

/** A bare name, or one under the product's own domain. */
export const isNative = (name: string, { labels }: Names): boolean =>
  !name.includes('/') || name.includes(`${labels}/`);

/** One of the cluster's own making: under another domain, and short enough to be asked for in quotas. */
export const isExtended = (name: string, names: Names, isQualified: (name: string) => boolean): boolean =>
  !isNative(name, names) && !name.startsWith('requests.') && isQualified(`requests.${name}`);

/** More of it may be promised than there is. */
export const isOvercommittable = (name: string, names: Names): boolean => isNative(name, names) && !isHugePages(name);

export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

export const isInteger = (name: string, names: Names, isQualified: (name: string) => boolean): boolean =>
  integerResources.has(name) || isExtended(name, names, isQualified);
