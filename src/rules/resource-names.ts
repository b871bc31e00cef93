/** Classes of resource names, such as native, extended and integer resources. */
import type { Names } from '../meta/index.ts';
import { resourceNames } from '../types/core-v1.ts';

const HUGE_PAGES = 'hugepages-';

/** Standard resource names that containers may request. */
const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Standard resource names. */
const standardResources = new Set(resourceNames);

/** Resources with integer quantities. */
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

/** Whether a resource is native: its name has no domain, or the API's own. */
export const isNative = (name: string, { labels }: Pick<Names, 'labels'>): boolean =>
  !name.includes('/') || name.includes(`${labels}/`);

/** Whether a resource is extended: its name has another domain. Quotas limit it as `requests.<name>`. */
export const isExtendedResource = (name: string, names: Pick<Names, 'labels'>): boolean =>
  !isNative(name, names) && !name.startsWith('requests.');

/** Whether a resource is an extended one whose quota name `requests.<name>` is valid. */
export const isExtended = (name: string, names: Names, isQualified: (name: string) => boolean): boolean =>
  isExtendedResource(name, names) && isQualified(`requests.${name}`);

/** Whether limits may exceed the node's capacity: native resources other than huge pages. */
export const isOvercommittable = (name: string, names: Names): boolean => isNative(name, names) && !isHugePages(name);

export const isPodLevelResource = (name: string): boolean => name === 'cpu' || name === 'memory' || isHugePages(name);

export const isInteger = (name: string, names: Names, isQualified: (name: string) => boolean): boolean =>
  integerResources.has(name) || isExtended(name, names, isQualified);
