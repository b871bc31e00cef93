/** Rules about built-in types that admission, kinds and controllers share. */
export { clientProblem, nodeClientProblem, nodeServingProblem } from './certificate-usages.ts';
export { isTimeZone, parseSchedule, type Schedule, timeZoneErrors, zoneOffset } from './cron-schedule.ts';
export {
  aggregateContainers,
  allContainers,
  allocatedPodResources,
  hasPodLevelResources,
  isSidecar,
  podResources,
  qosClass,
} from './pod-resources.ts';
export {
  addInPlace,
  compareQuantityTexts,
  encodeResourceList,
  equalQuantities,
  parseResourceList,
  type Quantities,
  type ResourceList,
  sortedByName,
  subtractNonNegative,
  zero,
} from './resource-list.ts';
export {
  isExtended,
  isExtendedResource,
  isForContainers,
  isHugePages,
  isInteger,
  isNative,
  isOvercommittable,
  isPodLevelResource,
  isStandard,
  podLevelResources,
} from './resource-names.ts';
export { scaleKind, scaleObject } from './scale.ts';
export { classAnnotation, storageClassOf } from './storage-class.ts';
export { validateToleration } from './tolerations.ts';
